/** Characters that steer a terminal, reorder text, or are invisible; letters that look blank too. */
const UNSEEN =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * Makes a text safe for a terminal: file names, responses of other servers and data of a database
 * must not move the cursor, reorder adjacent text, or look like other text. Line breaks and tabs are
 * kept.
 */
export const printable = (text: string): string => text.replaceAll(UNSEEN, escaped)

/** The same for a single line: also removes line breaks. */
export const printableLine = (text: string): string =>
  printable(text).replaceAll(/[\n\t]/g, escaped)

const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`
