import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@remit/testing/pure'
import { buildChain, decision, decisions, exportOf, rotation } from '../../../test/ledger/chain.ts'
import type { TestChain } from '../../../test/ledger/chain.ts'
import { codes } from '../../../test/ledger/check.ts'
import {
  exportLines,
  formatEntryLine,
  formatHeaderLine,
  parseExportLine,
} from '../read/export-entries.ts'
import { formatCheckpointLine, verifyExport } from './export.ts'
import type { VerifyExportOptions } from './export.ts'
import { NoteError } from '../format/note.ts'

const chain = buildChain([
  ...decisions(5),
  {
    kind: 'entry.appended',
    payload: { data: { note: 'line\u2028separator \u0001 and "quotes"\n' } },
  },
  { kind: 'ledger.erased', payload: { data: { seqs: [3] } } },
])
const rows = chain.rows.map((row) => (row.seq === 3 ? { ...row, salt: null, payload: null } : row))
const lines = exportOf(chain, rows)
const bytes = Buffer.from(lines.join(''), 'utf8')
const trusted = { vkey: chain.vkey }

const verifyBytes = (file: Uint8Array, options: VerifyExportOptions = trusted) =>
  verifyExport(exportLines([file]), options)

describe('an export', () => {
  test('gives the same verdict as the ledger it was made from', async () => {
    expect(await verifyBytes(bytes)).toMatchObject({
      status: 'ok',
      checked: { from_seq: 0, to_seq: 7, entries: 8 },
      head: { seq: 7, hash: chain.head.hash },
      anchored_by: 'signature',
      truncation_checked: false,
      redacted: 1,
      checkpoints: { checked: 1, mismatched: 0 },
    })
    expect(await verifyBytes(bytes, { ...trusted, deep: true })).toMatchObject({ status: 'ok' })
  })

  test('is held by nothing but itself without a key from outside', async () => {
    expect(await verifyBytes(bytes, {})).toMatchObject({ status: 'ok', anchored_by: 'none' })
  })

  test('is compared with checkpoints that were kept outside', async () => {
    const forged = buildChain([...decisions(6), decision(9)])
    const later = buildChain([...decisions(5), decision(8), decision(9), decision(10)])

    const same = await verifyBytes(bytes, { ...trusted, checkpoints: [chain.notes[5]!] })
    const other = await verifyBytes(bytes, { ...trusted, checkpoints: [forged.notes[8]!] })
    const ahead = await verifyBytes(bytes, { ...trusted, checkpoints: [later.notes[9]!] })

    expect(same.anchored_by).toBe('external')
    expect(codes(other)).toEqual(['7 checkpoint_root'])
    expect(ahead.status).toBe('behind_checkpoint')
  })

  test('has the members of its lines in one order, the payload as a string', () => {
    expect(lines[0]).toBe(
      `{"type":"header","format":"ledger-export/v1","org_id":"org_acme","ledger_id":"led_01","origin":"remit.example.com/ledger/org_acme/led_01","vkey":${JSON.stringify(chain.vkey)},"from_seq":0}\n`,
    )
    expect(Object.keys(JSON.parse(lines[1]!) as object)).toEqual([
      'type',
      'seq',
      'recorded_at',
      'kind',
      'prev_hash',
      'commitment',
      'hash',
      'salt',
      'payload',
    ])
    expect(Object.keys(JSON.parse(lines.at(-1)!) as object)).toEqual(['type', 'note'])
  })

  test('that goes on after a rotation names the key then in force', async () => {
    const turned = buildChain([decision(1), rotation(chain.origin, 'one', 'two'), decision(2)], {
      keys: ['one', 'two'],
    })
    const file = exportOf({ ...turned, vkey: buildChain([], { keys: ['two'] }).vkey })

    const report = await verifyExport(file, { vkey: JSON.parse(file[0]!).vkey })

    expect(report).toMatchObject({ status: 'ok', anchored_by: 'signature' })
  })

  test('with a key that is no key is the caller’s mistake', async () => {
    await expect(verifyExport(lines, { vkey: 'rubbish' })).rejects.toThrow(NoteError)
  })
})

describe('an export that starts after genesis', () => {
  const from = 4
  const header = (of: TestChain) => ({ ...of, from_seq: from })
  const start = {
    hash: chain.rows[from - 1]!.hash,
    recorded_at: chain.rows[from - 1]!.recorded_at,
    frontier: chain.frontiers[from]!,
  }
  const tail = lines.slice(from + 1)

  test('leads to the signed root from the frontier in its header', async () => {
    const file = [formatHeaderLine({ ...header(chain), start }), ...tail]

    const report = await verifyExport(file, trusted)

    expect(report).toMatchObject({ status: 'ok', anchored_by: 'signature' })
    expect(report.checked).toEqual({ from_seq: 4, to_seq: 7, entries: 4 })
  })

  test('is only linked, and called incomplete, without it', async () => {
    const report = await verifyExport([formatHeaderLine(header(chain)), ...tail], trusted)

    expect(report).toMatchObject({ status: 'incomplete', root: null, anchored_by: 'none' })
  })

  test('with the frontier of another chain does not lead there', async () => {
    const other = buildChain(decisions(9)).frontiers[from]!
    const forged = buildChain(decisions(9).with(1, decision(50))).frontiers[from]!
    const file = [
      formatHeaderLine({ ...header(chain), start: { ...start, frontier: forged } }),
      ...tail,
    ]

    expect(other).toBe(start.frontier)
    expect(codes(await verifyExport(file, trusted))).toEqual(['7 checkpoint_root'])
  })
})

describe('a file that ends early is incomplete', () => {
  test.each([
    ['without its checkpoint line', -1],
    ['without its last entries and checkpoint', -3],
    ['after its header', 1],
  ])('%s', async (_, end) => {
    const report = await verifyExport(lines.slice(0, end), trusted)

    expect(report).toMatchObject({
      status: 'incomplete',
      error_count: 0,
      truncation_checked: false,
    })
  })

  test('in the middle of any line', async () => {
    const start = lines[0]!.length
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: start, max: bytes.length - 2 }), async (end) => {
        expect((await verifyBytes(bytes.subarray(0, end))).status).toBe('incomplete')
      }),
      { numRuns: 50 },
    )
  })

  test('but with entries cut out before the checkpoint it is behind it', async () => {
    const report = await verifyExport([...lines.slice(0, -3), lines.at(-1)!], trusted)

    expect(report).toMatchObject({ status: 'behind_checkpoint', first_invalid: { seq: 6 } })
  })

  test('and empty it is no export at all', async () => {
    expect((await verifyExport([], trusted)).errors[0]).toMatchObject({ code: 'malformed_line' })
  })
})

describe('no change to an export goes unseen', () => {
  const isFound = async (file: Uint8Array) => {
    const { status, truncation_checked: checked } = await verifyBytes(file)
    return status !== 'ok' && !checked
  }

  test('to any single byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 2),
        fc.integer({ min: 1, max: 255 }),
        async (at, change) => {
          const file = Buffer.from(bytes)
          file[at] = file[at]! ^ change

          return (await verifyBytes(file)).status !== 'ok'
        },
      ),
      { numRuns: runs(1500) },
    )
  })

  test('by leaving out, adding or doubling a byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 2), fc.nat(255), async (at, byte) => {
        const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
        const shorter = Buffer.concat([before, after.subarray(1)])
        const longer = Buffer.concat([before, Buffer.of(byte), after])

        return (
          (await verifyBytes(shorter)).status !== 'ok' &&
          (await verifyBytes(longer)).status !== 'ok'
        )
      }),
      { numRuns: runs(500) },
    )
  })

  test('by dropping, doubling or exchanging lines', async () => {
    const line = fc.nat(lines.length - 1)
    await fc.assert(
      fc.asyncProperty(
        line,
        line,
        fc.constantFrom('drop', 'double', 'swap'),
        async (one, two, how) => {
          const changed = [...lines]
          if (how === 'drop') changed.splice(one, 1)
          else if (how === 'double') changed.splice(two, 0, lines[one]!)
          else [changed[one], changed[two]] = [lines[two]!, lines[one]!]
          fc.pre(changed.join('') !== lines.join(''))

          return (await verifyExport(changed, trusted)).status !== 'ok'
        },
      ),
      { numRuns: runs(300) },
    )
  })

  test('by a line that is too long to be one, which takes no memory', async () => {
    const [header = '', ...rest] = lines
    const endless = Array.from({ length: 40 }, () => Buffer.alloc(2 ** 20, 'x'))
    const file = [Buffer.from(header), ...endless, Buffer.from(`\n${rest.join('')}`)]
    const read: string[] = []
    for await (const line of exportLines(file)) read.push(line)

    expect(read.map((line) => `${line}\n`)).toEqual([header, '\n', ...rest])
  })

  test('by members that are doubled, hidden or spelled otherwise', async () => {
    const entry = lines[2]!
    for (const other of [
      entry.replace('{"type"', '{"seq":9,"type"'),
      entry.replace('"seq":1,', '"seq":1.0,'),
      entry.replace('"seq":1,', '"seq":1, '),
      entry.replace('}\n', ',"note":"x"}\n'),
      entry.replace('M', '\\u004d'),
      entry.replace('"payload":"', '"payload":"\\ud800'),
      entry.replace('\n', '\r\n'),
      'null\n',
      '[]\n',
      '',
    ]) {
      expect(parseExportLine(other)).toBeNull()
      expect(await isFound(Buffer.from(lines.with(2, other).join('')))).toBe(true)
    }
  })

  test('by anything after its end', async () => {
    const twice = await verifyExport([...lines, lines.at(-1)!], trusted)
    const more = await verifyExport([...lines, formatEntryLine(chain.rows[7]!)], trusted)

    expect([twice.status, more.status]).toEqual(['tampered', 'tampered'])
  })

  test('by a header whose start is none', () => {
    const line = formatHeaderLine({
      ...chain,
      from_seq: 3,
      start: { hash: '', recorded_at: '', frontier: '' },
    })

    expect(parseExportLine(line)).toBeNull()
    expect(parseExportLine(line.replace(/"start":\{.*?\}/, '"start":null'))).toBeNull()
    expect(parseExportLine(line.replace('"from_seq":3', '"from_seq":0'))).toBeNull()
  })
})

describe('cutting a file into lines', () => {
  async function linesOf(chunks: Uint8Array[]): Promise<string[]> {
    const found: string[] = []
    for await (const line of exportLines(chunks)) found.push(line)
    return found
  }

  test('does not depend on where its chunks begin', async () => {
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const edges = [0, ...at.toSorted((one, other) => one - other), bytes.length]
        const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end))

        expect(await linesOf(chunks)).toEqual(lines.map((line) => line.slice(0, -1)))
      }),
      { numRuns: 50 },
    )
  })

  test('leaves a line that is not UTF-8 empty, and so refused', async () => {
    const file = Buffer.concat([Buffer.from('a\n'), Buffer.of(0xff, 0x0a), Buffer.from('b')])

    expect(await linesOf([file])).toEqual(['a', '', 'b'])
  })

  test('reads a note back as it was written', () => {
    const note = 'one\n\n— “two” 😀\n'

    expect(parseExportLine(formatCheckpointLine(note))).toEqual({ type: 'checkpoint', note })
  })
})
