// Control characters, and characters that reorder, hide or end a line; they must be visible in print.
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E0FFF}]/gu

/** Replaces invisible characters with their code points. */
export const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => {
    const number = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
    return `[U+${number}]`
  })
