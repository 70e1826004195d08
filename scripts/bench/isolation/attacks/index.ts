import type { Attack } from '../attack.ts'
import { dryRuns } from './dry-runs.ts'
import { escapedNames } from './escaped-names.ts'
import { evaluations } from './evaluations.ts'
import { heavyConditions } from './heavy-conditions.ts'
import { largeReads } from './large-reads.ts'
import { outcomeLinks } from './outcome-links.ts'
import { publicPages } from './public-pages.ts'
import { searches } from './searches.ts'

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'escaped-names': escapedNames,
  'heavy-conditions': heavyConditions,
  'dry-runs': dryRuns,
  'large-reads': largeReads,
  searches,
  'outcome-links': outcomeLinks,
  evaluations,
  'public-pages': publicPages,
}
