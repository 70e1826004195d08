import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { appendNote, notesIn, readNotes } from './checkpoint-files.ts'

const note = (size: number) =>
  `remit.test/ledger/org_a/led_1\n${size}\n${Buffer.alloc(32, size).toString('base64')}\n\n— remit.test/ledger/org_a/led_1 ${Buffer.alloc(68, 7).toString('base64')}\n`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'remit-checkpoints-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const path = () => join(folder, 'org_a.txt')
const NOW = Date.parse('2026-11-20T08:00:00.000Z')

test('saved checkpoints are read in order, from a folder that is created', async () => {
  const deeper = join(folder, 'not', 'there')
  expect(await readNotes(deeper, 'org_a')).toEqual({ notes: [], damaged: false })
  for (const size of [1, 5, 90]) await appendNote(deeper, 'org_a', note(size), NOW)

  expect(await readNotes(deeper, 'org_a')).toEqual({
    notes: [note(1), note(5), note(90)],
    damaged: false,
  })
})

test('a line cut off by a crash affects only itself, and is reported', async () => {
  await appendNote(folder, 'org_a', note(1), NOW)
  writeFileSync(path(), note(5).slice(0, -20), { flag: 'a' })
  await appendNote(folder, 'org_a', note(90), NOW)

  expect(await readNotes(folder, 'org_a')).toEqual({ notes: [note(1), note(90)], damaged: true })
})

test('text other than a checkpoint is reported at any position', () => {
  expect(notesIn(`hello\n${note(3)}`)).toEqual({ notes: [note(3)], damaged: true })
  expect(notesIn(`${note(3)}hello\n`)).toEqual({ notes: [note(3)], damaged: true })
  expect(notesIn(note(3).replace('\n3\n', '\n03\n'))).toEqual({ notes: [], damaged: true })
  expect(notesIn(`\n\n${note(3)}\n\n${note(4)}\n`)).toEqual({
    notes: [note(3), note(4)],
    damaged: false,
  })
})

test('a large file is renamed with its time, and reads stay bounded', async () => {
  const many = Array.from({ length: 6_000 }, (_, i) => `${note(i + 1)}\n`).join('')
  writeFileSync(path(), many)
  const before = await readNotes(folder, 'org_a')
  await appendNote(folder, 'org_a', note(7_000), NOW)

  expect(before.damaged).toBe(false)
  expect(before.notes.length).toBeLessThan(6_000)
  expect(before.notes.at(-1)).toBe(note(6_000))
  expect(readdirSync(folder).toSorted()).toEqual(['org_a.2026-11-20T080000.000Z.txt', 'org_a.txt'])
  expect(readFileSync(join(folder, 'org_a.2026-11-20T080000.000Z.txt'), 'utf8')).toBe(many)
  expect((await readNotes(folder, 'org_a')).notes).toEqual([note(7_000)])

  // A second one of the same day takes nothing away from the first.
  writeFileSync(path(), many)
  await appendNote(folder, 'org_a', note(7_001), NOW + 1)
  expect(readdirSync(folder)).toHaveLength(3)
})
