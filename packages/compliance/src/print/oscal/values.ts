import { spellOut } from '@remit/contract/fit'

/** The namespace of our own properties; nothing is fetched from it. */
const NS = 'urn:remit:ns:report'

export interface Prop {
  readonly name: string
  readonly ns: string
  readonly value: string
  readonly class?: string
  readonly remarks?: string
}

type More = Pick<Prop, 'class' | 'remarks'>

export const prop = (name: string, value: string | number | boolean, more: More = {}): Prop => ({
  name,
  ns: NS,
  value: oneLine(String(value)),
  ...more,
})

/** An OSCAL string: one line, not empty, trimmed. */
export const oneLine = (text: string): string => spellOut(text).trim() || '-'

/** Escapes external text where OSCAL reads Markdown (CommonMark, backslash escapes). */
export const plain = (text: string): string =>
  oneLine(text).replaceAll(/[\\`*_[\]<>&#!|~]/g, '\\$&')

/** A control id as an OSCAL token: `CC6.2` is `cc6.2`, `Art. 14(4)(a)` is `art-14.4.a`. */
export const tokenOf = (controlId: string): string =>
  controlId.toLowerCase().replaceAll(/\.? /g, '-').replaceAll('(', '.').replaceAll(')', '')

/** A list as a member, or no member: OSCAL has no empty lists. */
export const listed = <Name extends string, T>(
  name: Name,
  list: readonly T[],
): { readonly [name in Name]?: readonly T[] } =>
  (list.length === 0 ? {} : { [name]: list }) as { readonly [name in Name]?: readonly T[] }
