import { visible } from '../visible.ts'

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

/** Text from outside: its direction of writing ends where it ends. */
export const outside = (text: string): Markup => html`<bdi>${text}</bdi>`
