// Control characters, and characters that reorder, hide or end a line; they must be visible in print.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Replaces invisible characters with their code points. */
export const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => {
    const number = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
    return `[U+${number}]`
  })
