// Controls, and what reorders, hides or ends a line: whoever prints must see that they are there.
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E0FFF}]/gu

/** A text in which characters that nobody would see stand as their numbers. */
export const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => {
    const number = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
    return `[U+${number}]`
  })
