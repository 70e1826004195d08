import { orgTable } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'

export const {
  find: findRule,
  list: listRules,
  put: putRule,
  remove: deleteRule,
} = orgTable<Tables, 'approval_rule'>('approval_rule', 'id')
