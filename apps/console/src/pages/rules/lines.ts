/** Members that the server adds to what was stored. */
const MADE = new Set([
  'id',
  'agent_id',
  'created_at',
  'created_by',
  'updated_at',
  'updated_by',
  'revision',
  'warnings',
  'ledger',
  'spent',
  'keys',
  'has_client_secret',
  'redirect_uri',
])

/**
 * The members of a stored object that its next version starts with, so that a form which replaces the object
 * drops none that it does not show.
 */
export const keptOf = <Input extends object>(stored: object): Partial<Input> =>
  Object.fromEntries(Object.entries(stored).filter(([name]) => !MADE.has(name))) as Partial<Input>

/** The lines of a text, without blank ones. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

export const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text)

/** The number that a text is. Another text is sent as it is, and the server names the field. */
export const numberOf = (text: string): number => {
  const value = Number(text)
  return text.trim() === '' || Number.isNaN(value) ? (text as never) : value
}
