import { describe, expect, test } from 'vitest'
import { buildChain, decisions } from '../../../test/ledger/chain.ts'
import { readCheckpoint } from '../format/note.ts'
import { parseExternalCheckpoint } from './checkpoints.ts'

const chain = buildChain(decisions(3))
const note = chain.head.checkpoint
const [text = '', signature = ''] = note.split('\n\n')

describe('a checkpoint that somebody hands in', () => {
  test.each([
    ['as it was signed', note],
    ['without its last newline, as a shell leaves it', note.trimEnd()],
    ['with a newline more, as tools print it', `${note}\n`],
    ['with CRLF', note.replaceAll('\n', '\r\n')],
    ['with CRLF and without the last one', note.trimEnd().replaceAll('\n', '\r\n')],
  ])('is read %s, and given back as it was signed', (_, given) => {
    expect(parseExternalCheckpoint(given)).toEqual({
      origin: chain.origin,
      size: 4,
      root: readCheckpoint(note)!.root,
      note,
    })
  })

  test.each([
    ['nothing', ''],
    ['words', 'rubbish'],
    ['a text that nobody signed', `${text}\n`],
    ['a signature line that is cut', note.slice(0, -10)],
    ['a signature alone', signature],
    ['a signed note of something else', note.replace('\n4\n', '\nfour\n')],
    ['lines that end in CR alone', note.replaceAll('\n', '\r')],
    ['two notes', `${note}\n${note}`],
  ])('is none: %s', (_, given) => {
    expect(parseExternalCheckpoint(given)).toBeNull()
  })
})

test('a note that is stored is one to the byte', () => {
  expect(readCheckpoint(note)).toMatchObject({ size: 4 })
  for (const other of [note.slice(0, -1), `${note}\n`, note.replaceAll('\n', '\r\n'), null, 4])
    expect(readCheckpoint(other)).toBeNull()
})
