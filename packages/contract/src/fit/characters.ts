/**
 * Characters that a person cannot see in a text, or takes for others: control, format, private and unassigned
 * characters, line ends, blanks other than U+0020, and letters without ink. Some of them reorder the text
 * around them, or steer a terminal.
 */
export const UNSEEN =
  /[\u{16FE4}\p{C}\p{Zl}\p{Zp}[\p{Zs}--\x20]\p{Default_Ignorable_Code_Point}\u2800\uFFFC\u{13441}\u{13442}\u{1D159}]/gv

/**
 * A text for people, on every surface: each character of `UNSEEN` appears as `\u{…}`, except those in
 * `keep`.
 */
export const spellOut = (text: string, { keep = '' } = {}): string =>
  text.replaceAll(UNSEEN, (character) =>
    keep.includes(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
