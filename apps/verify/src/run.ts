import type { Readable, Writable } from 'node:stream'
import { parseArgs, getSystemErrorMessage } from 'node:util'
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { verifyExport } from './export.ts'
import type { ExportVerdict } from './export.ts'
import { JsonError } from './jcs.ts'
import { linesOf, printable, readLine } from './lines.ts'
import { ReportCheck } from './report.ts'
import type { ReportVerdict } from './report.ts'
import { readKept, readKey } from './note.ts'
import type { Key } from './note.ts'
import type { Checkpoint } from './pure.ts'

export const EXIT = { ok: 0, wrong: 1, couldNotRun: 2, notAnchored: 3 } as const

export interface Verdict {
  readonly status: 'ok' | 'wrong'
  readonly ledger: ExportVerdict
  readonly reports: readonly ReportVerdict[]
}

export interface Io {
  readonly stdin: Readable
  readonly stdout: Pick<Writable, 'write'>
  readonly stderr: Pick<Writable, 'write'>
}

/** Runs one command line and returns the exit code. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    const options = readArguments(args)
    if (options === null) {
      io.stdout.write(USAGE)
      return EXIT.ok
    }
    const verdict = await verify(options, io.stdin)
    io.stdout.write(options.json ? `${JSON.stringify(verdict)}\n` : describe(verdict))
    if (verdict.status !== 'ok') return EXIT.wrong
    const isHeld = verdict.ledger.anchored_by !== 'none'
    return isHeld || !options.requireAnchor ? EXIT.ok : EXIT.notAnchored
  } catch (error) {
    io.stderr.write(`remit-verify: ${printable(reasonOf(error))}\n`)
    return EXIT.couldNotRun
  }
}

async function verify(
  { file, reports, keys, witness, checkpoints, damaged }: Options,
  stdin: Readable,
): Promise<Verdict> {
  const checks = reports.map(reportOf)
  const verdict = await verifyExport(linesOfExport(file, stdin), {
    keys,
    ...(witness && { witness }),
    checkpoints: checkpoints.map(({ note }) => note),
    onHeader: ({ origin }) => {
      for (const kept of checkpoints)
        if (kept.origin !== origin)
          throw new CannotRun(
            `--checkpoint ${kept.path} has the origin ${kept.origin}, the export has ${origin}`,
          )
    },
    onEntry: (entry) => {
      for (const check of checks) check.entry(entry)
    },
  })
  const unread = damaged.map((path) => `A part of ${path}: it is not a checkpoint.`)
  const ledger = { ...verdict, not_checked: [...verdict.not_checked, ...unread] }
  const { from_seq } = ledger.checked
  const verdicts = checks.map((check) => check.end(ledger.org_id, from_seq))
  const isOk = ledger.status === 'ok' && verdicts.every(({ status }) => status === 'ok')
  return { status: isOk ? 'ok' : 'wrong', ledger, reports: verdicts }
}

/**
 * The lines of an export. A file without one valid line is something else: it must not make the ledger look
 * tampered. Invalid lines before the first valid one are empty, which is not valid either.
 */
async function* linesOfExport(file: string, stdin: Readable): AsyncGenerator<string> {
  let invalid = 0
  let isExport = false
  for await (const line of linesOf(bytesOf(file, stdin))) {
    isExport ||= readLine(line) !== null
    if (!isExport) {
      invalid++
      continue
    }
    for (; invalid > 0; invalid--) yield ''
    yield line
  }
  if (!isExport)
    throw new CannotRun(`${file === '-' ? 'standard input' : file} is not an export of a ledger`)
}

function reportOf(path: string): ReportCheck {
  try {
    return new ReportCheck(readText(path))
  } catch (error) {
    if (error instanceof JsonError) throw new CannotRun(`${path}: ${error.message}`)
    throw error
  }
}

const LEDGER: Readonly<Record<ExportVerdict['status'], string>> = {
  ok: 'OK',
  tampered: 'TAMPERED',
  behind_checkpoint: 'BEHIND A CHECKPOINT: signed entries are missing',
  incomplete: 'INCOMPLETE: the export does not reach its signed end',
}

const SHOWN = 10

/** Formats the result for a person, including its limits. */
const describe = ({ ledger, reports }: Verdict): string =>
  [describeLedger(ledger), ...reports.map(describeReport)].join('\n')

function describeLedger(ledger: ExportVerdict): string {
  const { checked, head, root, anchored_by, truncation_checked, checkpoints } = ledger
  return section(`LEDGER ${LEDGER[ledger.status]}`, ledger, {
    organization: `${ledger.org_id ?? 'unknown'}, ledger ${ledger.ledger_id ?? 'unknown'}`,
    entries: `${checked.entries}, seq ${checked.from_seq} to ${checked.to_seq}`,
    head: head.hash ?? 'unknown',
    root: root ?? 'unknown',
    'anchored by': anchored_by,
    'end confirmed': truncation_checked ? 'yes' : 'no',
    checkpoints: `${checkpoints.checked} compared, ${checkpoints.mismatched} wrong`,
    'erased payloads': `${ledger.redacted}`,
    errors: `${ledger.error_count}`,
  })
}

function describeReport(report: ReportVerdict): string {
  const { period } = report
  return section(`REPORT ${report.status === 'ok' ? 'OK' : 'WRONG'}`, report, {
    report: `${report.report_id}, ${report.framework}`,
    period: `${period.from} to before ${period.to}`,
    content: report.content_sha256,
    'recorded at': `seq ${report.record_seq}`,
    'entries looked up': `${report.looked_up}`,
    errors: `${report.error_count}`,
  })
}

interface Told {
  readonly errors: readonly {
    readonly seq?: number
    readonly code: string
    readonly detail?: string
  }[]
  readonly error_count: number
  readonly not_checked: readonly string[]
}

function section(title: string, told: Told, facts: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(facts).map((name) => name.length))
  const shown = told.errors.slice(0, SHOWN)
  return [
    title,
    ...Object.entries(facts).map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    ...shown.map(({ seq, code, detail }) =>
      [
        seq === undefined ? '    ' : `    seq ${seq}: `,
        code,
        detail === undefined ? '' : `, ${detail}`,
      ].join(''),
    ),
    ...(told.error_count > shown.length
      ? [`    and ${told.error_count - shown.length} more errors`]
      : []),
    '  not checked:',
    ...told.not_checked.map((sentence) => `  - ${sentence}`),
    '',
  ]
    .map(printable)
    .join('\n')
}

const USAGE = `usage: remit-verify EXPORT [options]

Verifies an exported ledger, and the reports generated from it, without the server.
EXPORT is a file of \`remit ledger export\` or GET /v1/ledger/export; - reads standard input.

  --report FILE       a report as JSON to compare with the export; repeatable
  --vkey KEY          the verifier key of the ledger from a trusted source
  --checkpoint FILE   an external checkpoint; repeatable
  --witness KEY       the verifier key of the witness: external checkpoints must have its
                      signature, from the first one on that has it
  --require-anchor    exit with 3 if neither a key nor a checkpoint confirms the ledger
  --json              print the result as one line of JSON
  --help

exit codes: 0 everything is as signed; 1 something was changed or is missing;
2 the verification could not run; 3 see --require-anchor
`

/** A checkpoint, and its file. */
interface KeptCheckpoint extends Checkpoint {
  readonly path: string
}

interface Options {
  readonly file: string
  readonly reports: readonly string[]
  readonly keys: readonly Key[]
  readonly witness: Key | null
  readonly checkpoints: readonly KeptCheckpoint[]
  /** Checkpoint files with invalid parts. */
  readonly damaged: readonly string[]
  readonly requireAnchor: boolean
  readonly json: boolean
}

/** Parses a command line; null for `--help`. */
function readArguments(args: readonly string[]): Options | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      report: { type: 'string', multiple: true, default: [] },
      vkey: { type: 'string', multiple: true, default: [] },
      checkpoint: { type: 'string', multiple: true, default: [] },
      witness: { type: 'string' },
      'require-anchor': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0)
    throw new CannotRun('expected one export file; see --help')
  const paths = { EXPORT: [file], '--report': values.report, '--checkpoint': values.checkpoint }
  for (const [name, given] of Object.entries(paths))
    if (given.includes('')) throw new CannotRun(`the path ${name} is empty`)
  const kept = values.checkpoint.map(keptIn)
  return {
    file,
    reports: values.report,
    keys: values.vkey.map((vkey) => keyOf('--vkey', vkey)),
    witness: values.witness === undefined ? null : keyOf('--witness', values.witness),
    checkpoints: kept.flatMap(({ notes }) => notes),
    damaged: kept.flatMap(({ damaged }) => damaged),
    requireAnchor: values['require-anchor'],
    json: values.json,
  }
}

function keyOf(option: string, vkey: string): Key {
  const key = readKey(vkey.trim())
  if (key === null) throw new CannotRun(`${option} is not a verifier key`)
  return key
}

/** The content of a checkpoint file. */
interface Kept {
  readonly notes: readonly KeptCheckpoint[]
  /** Files with an invalid part, such as a truncated line. */
  readonly damaged: readonly string[]
}

/**
 * One or several concatenated notes; or the member `note` of JSON, or of each line of JSON Lines.
 */
function keptIn(path: string): Kept {
  const text = readText(path).replaceAll('\r\n', '\n')
  const { found, rest } = text.startsWith('{') ? inJson(text) : inText(text)
  const notes = found.flatMap((note) => {
    const kept = readKept(note)
    return kept === null ? [] : [{ ...kept, path }]
  })
  // A file without a checkpoint must not make the ledger look tampered.
  if (notes.length === 0) throw new CannotRun(`--checkpoint: ${path} contains no signed checkpoint`)
  const isDamaged = notes.length < found.length || rest.trim() !== ''
  return { notes, damaged: isDamaged ? [path] : [] }
}

/** Notes, and the invalid parts of the file. */
interface Found {
  readonly found: readonly string[]
  readonly rest: string
}

/**
 * A note: origin, size, root and further lines, an empty line, signatures. A regular expression would
 * try every line as the first one.
 */
function inText(text: string): Found {
  const found: string[] = []
  let rest = ''
  let body: string[] = []
  let signatures: string[] = []
  let isSeparated = false
  const end = () => {
    if (signatures.length > 0) found.push([...body, '', ...signatures, ''].join('\n'))
    else rest += body.join('\n')
    body = []
    signatures = []
    isSeparated = false
  }
  for (const line of text.split('\n')) {
    const isSignature = isSeparated && /^— ./s.test(line)
    if (isSignature) signatures.push(line)
    else if (line === '' && body.length >= 3 && !isSeparated) isSeparated = true
    else {
      if (isSeparated || line === '') end()
      if (line !== '') body.push(line)
    }
  }
  end()
  return { found, rest }
}

function inJson(text: string): Found {
  const pieces = noteOf(text) === null ? text.split('\n') : [text]
  return {
    found: pieces.flatMap((piece) => noteOf(piece) ?? []),
    rest: pieces.filter((piece) => noteOf(piece) === null).join(''),
  }
}

function noteOf(json: string): string | null {
  try {
    const { note } = JSON.parse(json) as { note?: unknown }
    return typeof note === 'string' ? note : null
  } catch {
    return null
  }
}

/** An error that prevents the verification, with a one-line message. */
class CannotRun extends Error {}

/** An open file of this process, such as the pipe of `<(…)` in a shell. */
const OPEN_FILE = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/

/** Throws for a named pipe, which waits for a writer, and for a device, which may have no end. */
function requireRegularFile(path: string): void {
  if (!OPEN_FILE.test(resolve(path)) && !statSync(path).isFile())
    throw new Error('it is not a regular file')
}

/** The bytes of a file of any size; `-` is standard input. Throws `CannotRun`. */
async function* bytesOf(path: string, stdin: Readable): AsyncGenerator<Uint8Array> {
  try {
    if (path !== '-') requireRegularFile(path)
    yield* path === '-' ? stdin : createReadStream(path, { highWaterMark: 1 << 20 })
  } catch (error) {
    throw new CannotRun(`${path} cannot be read: ${reasonOf(error)}`)
  }
}

/** Far above the largest report, and above a file of checkpoints of a hundred years. */
const MAX_TEXT = 256 * 1024 * 1024

/** The text of a file. Throws `CannotRun`. */
function readText(path: string): string {
  try {
    requireRegularFile(path)
    return readLimited(path).toString('utf8')
  } catch (error) {
    throw new CannotRun(`${path} cannot be read: ${reasonOf(error)}`)
  }
}

/** Reads a file that may have no end, such as a pipe. */
function readLimited(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const pieces: Buffer[] = []
    for (let length = 0; length <= MAX_TEXT;) {
      const piece = Buffer.allocUnsafe(1 << 20)
      const read = readSync(file, piece)
      if (read === 0) return Buffer.concat(pieces)
      pieces.push(piece.subarray(0, read))
      length += read
    }
    throw new Error(`it has more than ${MAX_TEXT} bytes`)
  } finally {
    closeSync(file)
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('errno' in error && typeof error.errno === 'number') return getSystemErrorMessage(error.errno)
  return error.message.replaceAll('\n', ' ')
}
