import type { Members } from './members.ts'

const OF_MESSAGES = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']
const OF_PARAMS = [
  '_meta',
  'name',
  'arguments',
  'uri',
  'cursor',
  'task',
  'taskId',
  'requestState',
  'inputResponses',
]

/** As readers do that ignore case, such as `encoding/json` of Go: it takes U+017F for an s. */
const folded = (name: string): string => name.toUpperCase().toLowerCase()

const OF_MESSAGES_FOLDED = new Set(OF_MESSAGES.map(folded))
const OF_PARAMS_FOLDED = new Set(OF_PARAMS.map(folded))

/**
 * A member that a server which ignores case would read as another one: it would carry out another request than
 * the decided one. Null if there is none. Pure.
 */
export const misspelledMember = (message: Members): string | null =>
  misspelledIn(message, OF_MESSAGES, OF_MESSAGES_FOLDED)

/** The same for a member of `params`. Pure. */
export const misspelledParameter = (params: Members): string | null =>
  misspelledIn(params, OF_PARAMS, OF_PARAMS_FOLDED)

/** The place of a name that such a server takes for an earlier one, so that its value counts. Pure. */
export function foldedTwice(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  const seen = Array.isArray(value) ? null : new Set<string>()
  for (const name of Object.keys(value)) {
    if (seen?.has(folded(name))) return name
    seen?.add(folded(name))
    const inner = foldedTwice((value as Members)[name])
    if (inner !== null) return `${name}.${inner}`
  }
  return null
}

function misspelledIn(
  members: Members,
  names: readonly string[],
  foldedNames: ReadonlySet<string>,
): string | null {
  for (const name of Object.keys(members))
    if (!names.includes(name) && foldedNames.has(folded(name))) return name
  return null
}
