/**
 * Makes a text safe for a terminal: file names, responses of other servers and data of a database
 * must not move the cursor or reorder adjacent text. Line breaks and tabs are kept.
 */
export const printable = (text: string): string =>
  text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped)

/** The same for a single line: also removes line breaks. */
export const printableLine = (text: string): string =>
  printable(text).replaceAll(/[\n\t]/g, escaped)

const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`
