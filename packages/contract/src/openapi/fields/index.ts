import { commonFields } from './common.ts'
import { complianceFields } from './compliance.ts'
import { evaluationFields } from './evaluation.ts'
import { governanceFields } from './governance.ts'
import { hostFields } from './hosts.ts'
import { identityFields } from './identity.ts'
import { ledgerFields } from './ledger.ts'
import { sinkFields } from './sinks.ts'

/** One table per part of the API; a test checks that no row is in two of them. */
export const FIELD_TABLES: readonly Readonly<Record<string, string>>[] = [
  commonFields,
  governanceFields,
  hostFields,
  ledgerFields,
  identityFields,
  evaluationFields,
  complianceFields,
  sinkFields,
]

const FIELDS: Readonly<Record<string, string>> = Object.assign({}, ...FIELD_TABLES) as Record<
  string,
  string
>

/**
 * Returns the default description of a field: the row `parent.name`, else the row `name`. `parent`
 * is the enclosing property, component or operation.
 */
export const fieldText = (parent: string, name: string): string | undefined =>
  FIELDS[`${parent}.${name}`] ?? FIELDS[name]
