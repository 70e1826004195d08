import { commonFields } from './common.ts'
import { complianceFields } from './compliance.ts'
import { evaluationFields } from './evaluation.ts'
import { governanceFields } from './governance.ts'
import { identityFields } from './identity.ts'
import { ledgerFields } from './ledger.ts'

/** The tables of one part of the API each, for a test that no two have the same row. */
export const FIELD_TABLES: readonly Readonly<Record<string, string>>[] = [
  commonFields,
  governanceFields,
  ledgerFields,
  identityFields,
  evaluationFields,
  complianceFields,
]

const FIELDS: Readonly<Record<string, string>> = Object.assign({}, ...FIELD_TABLES) as Record<
  string,
  string
>

/**
 * The description of a field that has none of its own: the row `parent.name`, else the row `name`.
 * `parent` is the property, component or operation that encloses the field.
 */
export const fieldText = (parent: string, name: string): string | undefined =>
  FIELDS[`${parent}.${name}`] ?? FIELDS[name]
