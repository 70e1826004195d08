import type { Attack } from '../attack.ts'
import { dryRuns } from './dry-runs.ts'
import { escapedNames } from './escaped-names.ts'
import { evaluations } from './evaluations.ts'
import { heavyConditions } from './heavy-conditions.ts'
import { largeReads } from './large-reads.ts'
import { publicPages } from './public-pages.ts'

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'escaped-names': escapedNames,
  'heavy-conditions': heavyConditions,
  'dry-runs': dryRuns,
  'large-reads': largeReads,
  evaluations,
  'public-pages': publicPages,
}
