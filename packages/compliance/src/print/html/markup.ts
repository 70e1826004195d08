import { spellOut } from '@remit/contract/fit'

/** HTML text. Only `html` creates it, so a page cannot contain unescaped text. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Slot = string | number | Markup | readonly Slot[] | null

/**
 * A template that escapes its values unless they are markup; null is empty, and a list is its
 * items.
 */
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
  spellOut(text).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '')

/** External text, isolated so that its writing direction cannot affect the page. */
export const isolated = (text: string): Markup => html`<bdi>${text}</bdi>`
