import { join, resolve } from 'node:path'
import { cellText, spellOut } from '@remit/contract/fit'
import { describe, expect, it } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { printableLine } from '../src/cli/table.ts'
import { shownName } from '../src/discover/discover.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
/** Of packages that others must not import. */
const load = async <Exports>(file: string): Promise<Exports> =>
  (await import(join(ROOT, file))) as Exports

type Show = (text: string) => string

const show = {
  terminal: printableLine,
  discover: shownName,
  console: (await load<{ spellOut: Show }>('apps/console/src/format/literal.ts')).spellOut,
  verifier: (await load<{ printable: Show }>('apps/verify/src/lines.ts')).printable,
  doctor: await doctor(),
  ...(hasModules() && (await commercial())),
} as const

async function doctor(): Promise<Show> {
  const { describe: told } = await load<{ describe: (one: object) => string }>(
    'packages/sdk/src/doctor/run.ts',
  )
  return (text) => told({ server: '', folder: text, findings: [], unused: [] })
}

async function commercial() {
  const { html } = await load<{
    html: (parts: readonly string[], ...slots: string[]) => { text: string }
  }>('packages/compliance/src/print/html/markup.ts')
  const { shownText } = await load<{ shownText: Show }>(
    'packages/governance-enterprise/src/approvals/binding.ts',
  )
  return { html: (text: string) => html(['', ''], text).text, approvals: shownText }
}

const CHARACTERS = [
  // Control characters.
  ['\0', '\u0007', '\b', '\u001b', '\u007f', '\u0085', '\u009b', '\r', '\v', '\f'],
  // The direction of text.
  ['\u061c', '\u200e', '\u200f', '\u202a', '\u202d', '\u202e', '\u2066', '\u2069'],
  // Nothing that takes room.
  ['\u00ad', '\u034f', '\u200b', '\u200d', '\u2060', '\ufe0f', '\ufeff', '\u{e0041}', '\u{e0100}'],
  // Blanks and line ends.
  ['\u00a0', '\u1680', '\u2003', '\u202f', '\u3000', '\u2028', '\u2029'],
  // Letters without ink.
  ['\u115f', '\u2800', '\u3164', '\uffa0', '\uffFC', '\u{16fe4}', '\u{1d159}'],
  // Private, unassigned, no characters, halves.
  ['\ue000', '\u{f0000}', '\u0378', '\uffff', '\ud83d'],
].flat()

describe.each(Object.entries(show))('%s', (_, shown) => {
  it.each(CHARACTERS)('shows that a text has %j', (character) => {
    expect(shown(`pa${character}yer`)).not.toContain(character)
  })

  it('leaves what people see', () => {
    const text = 'Zahle 40 € an Москва 東京 😀.'

    expect(shown(text)).toContain(text)
  })
})

it('all surfaces write a character in the same way', () => {
  const others = Object.entries(show).filter(([name]) => name !== 'discover')
  const differing = others.flatMap(([name, shown]) =>
    CHARACTERS.filter((one) => !shown(`a${one}b`).includes(`a${spellOut(one)}b`)).map((one) => [
      name,
      one,
    ]),
  )

  expect(differing).toEqual([])
})

it('the verifier has a set of its own, which is the same', () => {
  const all = Array.from({ length: 0x11_00_00 }, (_, code) => String.fromCodePoint(code))

  expect(all.filter((character) => show.verifier(character) !== spellOut(character))).toEqual([])
})

it('a cell that hides the start of a formula starts with an apostrophe', () => {
  const cells = [...CHARACTERS, '', '\t', '\r', '\n'].flatMap((one) =>
    ['=', '＝', '+', '-', '@'].map((sign) => cellText(`${one}${sign}1+1`)),
  )

  expect(cells.filter((cell) => !cell.startsWith(`"'`))).toEqual([])
})
