import { expect, it } from 'vitest'
import { csvOf, everyPage } from './csv.ts'

const columns = [
  { name: 'what', cell: ({ text }: { text: string }) => text },
  { name: 'n', cell: ({ n }: { n?: number }) => n },
]

it('writes RFC 4180 with hidden characters spelled out, and text that cannot be a formula', () => {
  const rows = [
    { text: 'pay\u202E "now"', n: -1.5 },
    { text: '=HYPERLINK("x")' },
    { text: '\u200B=1\n-2' },
  ]

  expect(csvOf<{ text: string; n?: number }>(columns, rows)).toBe(
    [
      '"what","n"',
      String.raw`"pay\u{202e} ""now""",-1.5`,
      `"'=HYPERLINK(""x"")",`,
      String.raw`"\u{200b}=1\u{a}-2",`,
      '',
    ].join('\r\n'),
  )
})

it('reads all pages of a list, and no more than asked', async () => {
  const read = (cursor = '0') =>
    Promise.resolve({
      data: [cursor],
      next_cursor: cursor === '3' ? null : `${Number(cursor) + 1}`,
    })

  expect(await everyPage(read)).toEqual(['0', '1', '2', '3'])
  expect(await everyPage(read, 2)).toEqual(['0', '1'])
})
