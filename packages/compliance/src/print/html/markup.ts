/** Text that is HTML already. Only `html` makes it, so nothing unescaped gets into a page. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Slot = string | number | Markup | readonly Slot[] | null

/** A template whose values are escaped, unless they are markup; null is nothing, a list its items. */
export const html = (parts: TemplateStringsArray, ...slots: readonly Slot[]): Markup =>
  new Markup(parts.map((part, i) => part + textOf(slots[i] ?? null)).join(''))

function textOf(slot: Slot): string {
  if (slot === null) return ''
  if (slot instanceof Markup) return slot.text
  return typeof slot === 'object' ? slot.map(textOf).join('') : escapeHtml(String(slot))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string =>
  visible(text).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '')

// Controls, and what reorders, hides or ends a line: whoever prints must see that they are there.
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E0FFF}]/gu

/** A text in which characters that nobody would see stand as their numbers. */
const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => {
    const number = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
    return `[U+${number}]`
  })

/** Text from outside: its direction of writing ends where it ends. */
export const outside = (text: string): Markup => html`<bdi>${text}</bdi>`
