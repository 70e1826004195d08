import type { ResultToScore } from '@remit/contract'
import { Unscorable } from '@remit/core'
import type { FieldName } from '@remit/core'
import type { JudgeTask } from './task.ts'

/** Judged fields with their values, in the order of the prompt. */
export type JudgedFields = readonly (readonly [name: FieldName, value: unknown])[]

/** The fields of a result that the judge sees, if present. */
const READ: readonly FieldName[] = [
  'input',
  'context',
  'expected',
  'tool_calls',
  'trajectory',
  'output',
]
const MAX_CHARACTERS = 200_000

/** Throws `Unscorable` if there is nothing to compare with, or too much text. */
export function judgedFields(
  result: ResultToScore,
  { mode, referenceFree }: JudgeTask,
): JudgedFields {
  const fields = READ.flatMap((name) => {
    const value: unknown = result[name]
    const isLeftOut = value === undefined || value === null
    return isLeftOut || (name === 'expected' && referenceFree) ? [] : [[name, value] as const]
  })
  if (mode === 'pairwise' && !fields.some(([name]) => name === 'expected'))
    throw new Unscorable('missing_field', 'expected is missing', 'expected')
  let characters = 0
  for (const [, value] of fields) {
    characters += (typeof value === 'string' ? value : JSON.stringify(value)).length
  }
  if (characters > MAX_CHARACTERS)
    throw new Unscorable(
      'limit_exceeded',
      `the fields are longer than ${MAX_CHARACTERS} characters`,
    )
  return fields
}
