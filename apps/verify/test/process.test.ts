import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { inFullRun, sampled } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Verdict } from '../src/run.ts'
import { bytesOf } from './support/agree.ts'
import { exportOf } from './support/ledger.ts'
import { reportAndExport } from './support/report.ts'
import { sound, vectors } from './support/vectors.ts'

const source = resolve(import.meta.dirname, '../src')
const folder = mkdtempSync(join(tmpdir(), 'remit-verify-'))
const at = (name: string): string => join(folder, name)

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The program as an auditor has it: its own files, Node, and nothing else within reach. */
async function run(
  args: readonly string[],
  stdin: Iterable<string> = [],
  flags: string[] = [],
  where: { cwd: string; env?: NodeJS.ProcessEnv } = { cwd: folder },
) {
  const child = spawn(process.execPath, [...flags, at('program/main.ts'), ...args], where)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  // A program that ends early leaves the rest unread.
  const fed = pipeline(Readable.from(stdin), child.stdin).catch(() => {})
  const code = await new Promise<number | null>((done) => child.once('close', done))
  await fed
  return { code, stdout, stderr } satisfies Ended
}

const ENDINGS: readonly (readonly [name: string, code: number, args: readonly string[]])[] = [
  ['a sound export', 0, ['sound.ndjson']],
  ['one that nothing holds', 3, ['sound.ndjson', '--require-anchor']],
  ['with its key', 0, ['sound.ndjson', '--require-anchor', '--vkey', sound.vkey!]],
  ['with a checkpoint', 0, ['sound.ndjson', '--require-anchor', '--checkpoint', 'kept.note']],
  ['with one in JSON', 0, ['sound.ndjson', '--require-anchor', '--checkpoint', 'kept.ndjson']],
  [
    'with a file of several',
    0,
    ['sound.ndjson', '--require-anchor', '--checkpoint', 'several.txt'],
  ],
  ...['shell.note', 'printed.note', 'crlf.note', 'state.json'].map(
    (name): [string, number, string[]] => [
      `with ${name}`,
      0,
      ['sound.ndjson', '--require-anchor', '--checkpoint', name],
    ],
  ),
  ['with words for a checkpoint', 2, ['sound.ndjson', '--checkpoint', 'words.note']],
  ['with one that nobody signed', 2, ['sound.ndjson', '--checkpoint', 'unsigned.note']],
  ['with JSON that has none', 2, ['sound.ndjson', '--checkpoint', 'empty.json']],
  ['with one of another ledger', 2, ['sound.ndjson', '--checkpoint', 'foreign.note']],
  ['with a wrong one among several', 1, ['sound.ndjson', '--checkpoint', 'wrong.txt']],
  ['with a checkpoint of another', 1, ['sound.ndjson', '--checkpoint', 'other.note']],
  [
    'with another key',
    1,
    ['sound.ndjson', '--vkey', vectors.find((v) => v.name.startsWith('no key'))!.vkey!],
  ],
  ['a changed export', 1, ['changed.ndjson']],
  ['what is no export', 2, ['report.json']],
  ['an empty file', 2, ['empty']],
  ['an export without its header', 1, ['headless.ndjson']],
  ['one with another first line', 1, ['begun.ndjson']],
  ['only the last line of one', 1, ['last.ndjson']],
  ['the start of a header', 2, ['cut.ndjson']],
  ['a report', 0, ['reported.ndjson', '--report', 'report.json']],
  ['a changed report', 1, ['reported.ndjson', '--report', 'changed.json']],
  ['two reports', 1, ['reported.ndjson', '--report', 'report.json', '--report', 'changed.json']],
  ['a report of another ledger', 1, ['sound.ndjson', '--report', 'report.json']],
  ['what is no report', 2, ['reported.ndjson', '--report', 'reported.ndjson']],
  ['nothing', 2, []],
  ['two exports', 2, ['sound.ndjson', 'changed.ndjson']],
  ['an option that is none', 2, ['sound.ndjson', '--force']],
  ['no file', 2, ['nowhere.ndjson']],
  ['a folder', 2, ['.']],
  ['no key', 2, ['sound.ndjson', '--vkey', 'nonsense']],
  ['no checkpoint file', 2, ['sound.ndjson', '--checkpoint', 'nowhere.note']],
  ['help', 0, ['--help']],
]

beforeAll(() => {
  cpSync(source, at('program'), { recursive: true })
  spawnSync('mkfifo', [at('pipe')])
  const made = reportAndExport()
  writeFileSync(at('sound.ndjson'), bytesOf(sound.lines))
  writeFileSync(at('changed.ndjson'), bytesOf(sound.lines).toString().replace('1.50', '9.50'))
  writeFileSync(at('empty'), '')
  writeFileSync(at('headless.ndjson'), bytesOf(sound.lines.slice(1)))
  writeFileSync(at('begun.ndjson'), bytesOf(['words', '', ...sound.lines]))
  writeFileSync(at('last.ndjson'), bytesOf(['words', ...sound.lines.slice(-1)]))
  writeFileSync(at('cut.ndjson'), sound.lines[0]!.slice(0, 80))
  writeFileSync(at('reported.ndjson'), bytesOf(made.lines))
  writeFileSync(at('report.json'), JSON.stringify(made.report, null, 2))
  writeFileSync(at('changed.json'), JSON.stringify(made.report).replace('9.50', '9.51'))
  const [kept = ''] = vectors.find(({ name }) => name.includes('kept outside'))!.checkpoints
  const [other = ''] = vectors.find(({ name }) => name.endsWith('outside disagrees'))!.checkpoints
  writeFileSync(at('kept.note'), kept)
  writeFileSync(at('kept.ndjson'), `${JSON.stringify({ size: 4, note: kept })}\n`)
  writeFileSync(at('other.note'), other)
  writeFileSync(at('shell.note'), kept.trimEnd())
  writeFileSync(at('printed.note'), `${kept}\n`)
  writeFileSync(at('crlf.note'), kept.replaceAll('\n', '\r\n'))
  writeFileSync(at('state.json'), JSON.stringify({ size: 4, note: kept }, null, 2))
  writeFileSync(at('words.note'), 'these are words\n')
  writeFileSync(at('unsigned.note'), kept.split('\n\n')[0]!)
  writeFileSync(at('empty.json'), '{"size":4}\n')
  const [header = ''] = made.lines
  const { origin } = JSON.parse(header) as { origin: string }
  writeFileSync(at('foreign.note'), kept.replaceAll(origin, origin.replace('acme', 'other')))
  const { note: newest } = JSON.parse(sound.lines.at(-1)!) as { note: string }
  writeFileSync(at('several.txt'), `${kept}\n${newest}\n`)
  writeFileSync(at('wrong.txt'), `${kept}\n${other}\n${newest}\n`)
  writeFileSync(at('cut.txt'), `${kept}\n${newest.slice(0, 90)}\n\n${newest}\n`)
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('remit-verify', () => {
  test('imports nothing but Node and itself', () => {
    const imports = readdirSync(source).flatMap((name) =>
      [...readFileSync(join(source, name), 'utf8').matchAll(/from '([^']+)'/g)].map(([, of]) => of),
    )
    const manifest = JSON.parse(readFileSync(join(source, '../package.json'), 'utf8')) as object

    expect(imports.length).toBeGreaterThan(20)
    expect(imports.filter((of) => !/^(node:|\.\/)/.test(of!))).toEqual([])
    expect(Object.keys(manifest).filter((name) => /^(?!dev).*[dD]ependencies$/.test(name))).toEqual(
      [],
    )
  })

  test.each(sampled(ENDINGS, 3))('%s: ends with %i', async (_name, expected, args) => {
    const { code, stdout, stderr } = await run(args)

    expect({ code, stdout, stderr }).toMatchObject({ code: expected })
    expect(stderr).toMatch(expected === 2 ? /^remit-verify: .+\n$/ : /^$/)
    expect(stdout === '').toBe(expected === 2)
  })

  test('names the file of a checkpoint that it cannot use, and both ledgers', async () => {
    const words = await run(['sound.ndjson', '--checkpoint', 'words.note'])
    const foreign = await run(['sound.ndjson', '--checkpoint', 'foreign.note'])

    expect(words.stderr).toMatch(/words\.note/)
    expect(foreign.stderr).toMatch(
      /foreign\.note has the origin \S+org_other\S+, .* has \S+org_acme/,
    )
  })

  test.each(
    sampled(
      [
        [['nowhere.ndjson'], 'nowhere.ndjson cannot be read: no such file or directory'],
        [['.'], '. cannot be read: it is not a regular file'],
        [['/dev/null'], '/dev/null cannot be read: it is not a regular file'],
        [['pipe'], 'pipe cannot be read: it is not a regular file'],
        [['sound.ndjson', '--report', 'pipe'], 'pipe cannot be read: it is not a regular file'],
        [['sound.ndjson', '--checkpoint', 'pipe'], 'pipe cannot be read: it is not a regular file'],
        [['report.json'], 'report.json is not an export of a ledger'],
        [['-'], 'standard input is not an export of a ledger'],
        [[''], 'the path EXPORT is empty'],
        [['sound.ndjson', '--report', ''], 'the path --report is empty'],
        [['sound.ndjson', '--checkpoint', ''], 'the path --checkpoint is empty'],
        [
          ['sound.ndjson', '--checkpoint', 'nowhere.note'],
          'nowhere.note cannot be read: no such file or directory',
        ],
      ],
      3,
    ),
  )('names a file that the system refuses, without codes: %j', async (args, message) => {
    expect(await run(args)).toMatchObject({ code: 2, stderr: `remit-verify: ${message}\n` })
  })

  test.each([
    ['reads files of the folder where pnpm was called', 'remit-verify', 0],
    ['stays in the folder of another script', 'audit', 2],
  ])('%s', async (_name, npm_lifecycle_event, expected) => {
    const cwd = at('program')
    const npm_package_json = join(cwd, 'package.json')
    const env = { INIT_CWD: folder, npm_lifecycle_event, npm_package_json }

    expect(await run(['sound.ndjson'], [], [], { cwd, env })).toMatchObject({ code: expected })
  })

  test('says of a file of checkpoints that a part of it is none', async () => {
    const { code, stdout } = await run(['sound.ndjson', '--checkpoint', 'cut.txt', '--json'])
    const { ledger } = JSON.parse(stdout) as Verdict

    expect(code).toBe(0)
    expect(ledger).toMatchObject({ anchored_by: 'external', checkpoints: { checked: 3 } })
    expect(ledger.not_checked).toContain('A part of cut.txt: it is not a checkpoint.')
  })

  test('says the same to a person and to a program, and what was not checked', async () => {
    const person = await run(['changed.ndjson'])
    const program = await run(['changed.ndjson', '--json'])
    const verdict = JSON.parse(program.stdout) as Verdict

    expect(verdict).toMatchObject({
      status: 'wrong',
      ledger: { status: 'tampered', first_invalid: { seq: 1, code: 'commitment_mismatch' } },
      reports: [],
    })
    expect(person.stdout).toContain('LEDGER TAMPERED')
    expect(person.stdout).toContain('seq 1: commitment_mismatch')
    for (const sentence of verdict.ledger.not_checked) expect(person.stdout).toContain(sentence)
  })

  test('shows no control characters of a hostile export', async () => {
    const named = { ledger_id: '\u001b[2J\u009b\u202e' }
    const hostile = JSON.stringify({ ...(JSON.parse(sound.lines[0]!) as object), ...named })
    const { code, stdout } = await run(
      ['-'],
      [`${hostile}\n`, ...sound.lines.slice(1).map((line) => `${line}\n`)],
    )

    expect(code).toBe(1)
    expect(stdout).toContain('\\u{1b}[2J\\u{9b}\\u{202e}')
    expect(stdout).not.toMatch(/[^\P{C}\n]/u)
  })

  test('shows no invisible letters and no separators of lines', async () => {
    const { code, stderr } = await run(['no\u3164where\u2028\u00a0.ndjson'])

    expect(code).toBe(2)
    expect(stderr).toContain('no\\u{3164}where\\u{2028}\\u{a0}.ndjson')
  })

  test.each([
    ['a checkpoint, and 400,000 lines', 0, 'long.txt'],
    ['a line of 4 MB', 2, 'wide.txt'],
  ])('reads a file of checkpoints with %s in one pass', async (_name, expected, name) => {
    writeFileSync(
      at('long.txt'),
      `${readFileSync(at('kept.note'), 'utf8')}\n${'a line\n'.repeat(400_000)}`,
    )
    writeFileSync(at('wide.txt'), 'x'.repeat(4_000_000))

    expect(await run(['sound.ndjson', '--checkpoint', name])).toMatchObject({ code: expected })
  })

  test('looks each entry of a report up once, however often the report names it', async () => {
    const { report } = reportAndExport()
    const seqs = Array.from({ length: 300_000 }, () => 1)
    const content = { ...report.content, findings: [{ id: 'F', seqs }] }
    writeFileSync(at('often.json'), JSON.stringify({ ...report, content }))
    const { code, stdout } = await run(['reported.ndjson', '--report', 'often.json'])

    expect(code).toBe(1)
    expect(stdout).toContain('REPORT WRONG')
  })

  test('reads the pipes of a shell', () => {
    const pipes =
      'cat sound.ndjson | { cat kept.note | "$@" /dev/fd/8 --checkpoint /dev/fd/9 9<&0; } 8<&0'
    const args = ['-c', pipes, '', process.execPath, at('program/main.ts')]
    const { status, stdout } = spawnSync('sh', args, { cwd: folder, encoding: 'utf8' })

    expect(status).toBe(0)
    expect(stdout).toMatch(/anchored by +external/)
  })

  test('refuses a report and a checkpoint without an end', async () => {
    const endless = '/dev/zero'
    for (const option of ['--report', '--checkpoint'])
      expect(
        await run(['sound.ndjson', option, endless], [], ['--max-old-space-size=64']),
      ).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('/dev/zero'),
      })
  })

  test.each([[['sound.ndjson']], [['--help']]])(
    'ends quietly, and not with a verdict, if nobody reads its output: %j',
    async (args) => {
      const child = spawn(process.execPath, [at('program/main.ts'), ...args], { cwd: folder })
      child.stdout.destroy()
      let stderr = ''
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
      const code = await new Promise<number | null>((done) => child.once('close', done))

      expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    },
  )

  test.skipIf(!inFullRun('a long export'))(
    'needs no more memory for a longer export',
    { timeout: 300_000 },
    async () => {
      const [header = '', ...entries] = exportOf(
        Array.from({ length: 20_000 }, (_, n) => ({
          kind: 'authorization.decided',
          at: new Date(Date.UTC(2026, 1, 1) + n).toISOString(),
          data: { note: 'x'.repeat(2_000) },
        })),
      )
      const { code, stdout } = await run(
        ['-', '--json'],
        [header, ...entries].map((line) => `${line}\n`),
        ['--max-old-space-size=24'],
      )

      expect(code).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ ledger: { checked: { entries: 20_001 } } })
    },
  )

  test('leaves out a line without end, and says so', { timeout: 300_000 }, async () => {
    const endless = Array.from({ length: 40 }, () => 'x'.repeat(1_000_000))
    const { code, stdout } = await run(
      ['-', '--json'],
      [`${sound.lines[0]}\n`, ...endless, '\n', ...sound.lines.slice(1).map((line) => `${line}\n`)],
      ['--max-old-space-size=24'],
    )

    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      ledger: { first_invalid: { seq: 0, code: 'malformed_line' } },
    })
  })
})
