import { spellOut } from '@remit/contract/fit'

/**
 * Makes a text safe for a terminal: file names, responses of other servers and data of a database
 * must not move the cursor, reorder adjacent text, or look like other text. Line breaks and tabs are
 * kept.
 */
export const printable = (text: string): string => spellOut(text, { keep: '\n\t' })

/** The same for a single line: also removes line breaks. */
export const printableLine = (text: string): string => spellOut(text)
