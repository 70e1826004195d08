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
