/**
 * Text for a terminal: names of files, answers of other servers and what a database holds must not move
 * the cursor or reorder what stands beside them. Line breaks and tabs stay.
 */
export const printable = (text: string): string =>
  text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped)

/** The same for one line, which a value cannot end. */
export const printableLine = (text: string): string =>
  printable(text).replaceAll(/[\n\t]/g, escaped)

const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`
