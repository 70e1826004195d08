import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createProgress, facts, table } from '../src/cli/table.ts'

/** Updates once a second for half a minute; what was written. */
function halfMinute(isTTY: boolean): string {
  let text = ''
  let now = 0
  const stderr = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString()
        done()
      },
    }),
    { isTTY },
  )
  const progress = createProgress(
    stderr,
    (done) => `verified ${done} entries`,
    () => now,
  )
  for (let second = 1; second <= 30; second++) {
    now = second * 1000
    progress.update(second * 1000)
  }
  progress.end()
  return text
}

test('progress on a terminal is one line that changes, and is gone in the end', () => {
  const text = halfMinute(true)

  expect(text).not.toContain('\n')
  expect(text.split('\r\u001b[K')).toHaveLength(32)
  expect(text).toContain('verified 30,000 entries')
  expect(text.endsWith('\r\u001b[K')).toBe(true)
})

test('progress elsewhere is a plain line every ten seconds', () => {
  expect(halfMinute(false)).toBe(
    'verified 10,000 entries\nverified 20,000 entries\nverified 30,000 entries\n',
  )
})

test('tables and facts align their columns without trailing blanks', () => {
  expect(
    table(
      ['ID', 'NAME'],
      [
        ['long one', 'a'],
        ['x', ''],
      ],
    ),
  ).toBe('ID        NAME\nlong one  a\nx\n')
  expect(facts({ id: 'x', 'a longer name': 3 })).toBe('id:            x\na longer name: 3\n')
})
