import type { ClaimCondition } from '@remit/contract'
import { parseJson } from '@remit/contract/fit'
import { linesOf } from '../rules/draft.ts'

/** The tests of a claim. The `json` tests are for values that are no texts. */
export const TESTS = ['equals', 'in', 'prefix', 'equals_json', 'in_json'] as const
export type Test = (typeof TESTS)[number]

/** A condition as it is typed. */
export interface ConditionDraft {
  readonly claim: string
  readonly test: Test
  readonly value: string
}

export const NEW_CONDITION: ConditionDraft = { claim: '', test: 'equals', value: '' }

export function conditionDraftOf(condition: ClaimCondition): ConditionDraft {
  const { claim } = condition
  if ('prefix' in condition) return { claim, test: 'prefix', value: condition.prefix }
  if ('equals' in condition)
    return typeof condition.equals === 'string'
      ? { claim, test: 'equals', value: condition.equals }
      : { claim, test: 'equals_json', value: JSON.stringify(condition.equals) }
  return condition.in.every((value) => typeof value === 'string')
    ? { claim, test: 'in', value: condition.in.join('\n') }
    : { claim, test: 'in_json', value: JSON.stringify(condition.in) }
}

/** The condition of the API. A text that is no JSON is sent as it is, and the server names the field. */
export function conditionOf({ claim, test, value }: ConditionDraft): ClaimCondition {
  if (test === 'prefix') return { claim, prefix: value }
  if (test === 'in') return { claim, in: linesOf(value) }
  if (test === 'equals') return { claim, equals: value }
  const read = jsonOr(value)
  return test === 'equals_json' ? { claim, equals: read as never } : { claim, in: read as never }
}

/** The value of a JSON text; the text itself if it is none. */
export function jsonOr(text: string): unknown {
  const value = parseJson(text)
  return value === undefined ? text : value
}
