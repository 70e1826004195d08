import { orgTable } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'

export const {
  list: listTrust,
  count: countTrust,
  insert: insertTrust,
  remove: deleteTrust,
} = orgTable<Tables, 'trust_policy'>('trust_policy', 'id')
