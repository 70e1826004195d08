import { parseJson } from '@remit/contract/json'
import { parseExternalCheckpoint, parseVerifierKey } from '@remit/core/ledger/proofs'
import type { ExternalCheckpoint } from '@remit/core/ledger/proofs'
import {
  Ledger,
  unwitnessed,
  verifyDatabase,
  verifyExport,
  exportLines,
  parseExportLine,
} from '@remit/core/ledger/records'
import type { VerifyReport } from '@remit/core/ledger/records'
import { Option } from 'commander'
import type { Command } from 'commander'
import { orgOption, subcommand, readCount } from './options.ts'
import { CliError, EXIT, refusingAsCouldNotRun } from './errors.ts'
import { createProgress, facts } from './table.ts'
import type { Progress } from './table.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { bytesOf, readText } from './files.ts'

/** The common members of the reports on a database and on an export. */
type AnyReport = Omit<VerifyReport, 'nodes' | 'errors' | 'first_invalid'> & {
  readonly errors: readonly {
    readonly seq: number
    readonly code: string
    readonly detail?: string | undefined
  }[]
}

interface VerifyOptions {
  readonly org?: string
  readonly file?: string
  readonly vkey?: string
  readonly witness?: string
  readonly checkpoint?: readonly string[]
  readonly requireAnchor?: true
  readonly deep?: true
  readonly fromSeq?: string
  readonly toSeq?: string
}

export function verifyCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'verify', 'Verify a ledger in the database, or an export file')
    .addOption(orgOption().conflicts('file'))
    .option('--file <file>', 'Export to verify instead of the database')
    .option('--vkey <vkey>', 'Verifier key of the ledger from a trusted source')
    .option('--checkpoint <file...>', 'File of external checkpoints')
    .option(
      '--witness <vkey>',
      'Verifier key of the witness, which must have signed the external checkpoints',
    )
    .option('--require-anchor', 'Exit with 3 if neither a key nor a checkpoint confirms the ledger')
    .option('--deep', 'Also parse every payload; takes about three times as long')
    .addOption(new Option('--from-seq <seq>', 'First entry to verify').conflicts('file'))
    .addOption(new Option('--to-seq <seq>', 'Last entry to verify').conflicts('file'))
    .action(async (options: VerifyOptions) => {
      const progress = createProgress(session.io.stderr, (done) => `verified ${done} entries`)
      const report = await refusingAsCouldNotRun(() => verify(session, options, progress)).finally(
        () => progress.end(),
      )
      session.exitCode = exitCodeOf(report, options.requireAnchor ?? false)
      session.print(report, describeReport(report))
    })
}

/** Returns 1 for any deviation from the signed state, 3 for a chain without a trust anchor. */
export function exitCodeOf(
  { status, anchored_by }: Pick<AnyReport, 'status' | 'anchored_by'>,
  requireAnchor: boolean,
): number {
  if (status !== 'ok') return EXIT.failed
  return requireAnchor && anchored_by === 'none' ? EXIT.notAnchored : EXIT.ok
}

async function verify(
  session: CommandRun,
  options: VerifyOptions,
  progress: Progress,
): Promise<AnyReport> {
  const { org, file, vkey, witness, checkpoint = [], deep = false } = options
  if (vkey !== undefined) checkKey('--vkey', vkey)
  if (witness !== undefined) checkKey('--witness', witness)
  const files = checkpoint.map(readCheckpointFile)
  const checkpoints = files.map(({ note }) => note)
  // A witness that signed none of them must have signed all.
  const missing = witness && (unwitnessed(checkpoints, witness) ?? new Set(checkpoints))
  if (file !== undefined) {
    return verifyExport(counted(linesOfExport(file), progress), {
      checkpoints,
      ...(missing && { unwitnessed: missing }),
      deep,
      onHeader: ({ origin }) => requireOrigin(files, origin),
      ...(vkey !== undefined && { vkey }),
    })
  }
  return session.database(async (db) => {
    const { id } = await organizationOf(db, org)
    requireOrigin(files, await new Ledger(db).recordedOrigin(id))
    const onProgress = (done: number) => progress.update(done)
    const vkeys = vkey === undefined ? [] : [vkey]
    const { fromSeq, toSeq } = options
    return verifyDatabase(db, id, {
      vkeys,
      checkpoints,
      ...(missing && { unwitnessed: missing }),
      deep,
      onProgress,
      ...(fromSeq !== undefined && { from_seq: readCount('--from-seq', fromSeq) }),
      ...(toSeq !== undefined && { to_seq: readCount('--to-seq', toSeq) }),
    })
  })
}

function checkKey(option: string, vkey: string): void {
  try {
    parseVerifierKey(vkey)
  } catch (error) {
    throw new CliError(`${option}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function* counted(lines: AsyncIterable<string>, progress: Progress): AsyncGenerator<string> {
  let count = 0
  for await (const line of lines) {
    // The first line is the header.
    progress.update(count++)
    yield line
  }
}

const VERDICTS: Readonly<Record<AnyReport['status'], string>> = {
  ok: 'OK',
  tampered: 'TAMPERED',
  incomplete: 'INCOMPLETE: the source does not reach its signed end',
  behind_checkpoint: 'BEHIND A CHECKPOINT: signed entries are missing',
}

/** Formats the report for a person, including its limits. */
function describeReport(report: AnyReport): string {
  const { status, checked, head, root, anchored_by, truncation_checked, checkpoints } = report
  const { error_count, redacted } = report
  return [
    `${VERDICTS[status]}\n`,
    facts({
      entries: `${checked.entries}, seq ${checked.from_seq} to ${checked.to_seq}`,
      head: head.hash,
      root: root ?? 'unknown',
      'anchored by': anchored_by,
      'end confirmed': truncation_checked ? 'yes' : 'no',
      checkpoints: `${checkpoints.checked} compared, ${checkpoints.mismatched} wrong`,
      'erased payloads': redacted,
      errors: error_count,
    }),
    errorsAndLimits(report),
  ].join('')
}

const SHOWN_ERRORS = 10

/** The first errors of a verification, and what it has not checked. */
export function errorsAndLimits({
  errors,
  error_count,
  not_checked,
}: Pick<AnyReport, 'errors' | 'error_count' | 'not_checked'>): string {
  const shown = errors.slice(0, SHOWN_ERRORS)
  return [
    ...shown.map(
      ({ seq, code, detail }) =>
        `  seq ${seq}: ${code}${detail === undefined ? '' : `, ${detail}`}\n`,
    ),
    error_count > shown.length ? `  and ${error_count - shown.length} more\n` : '',
    'Not checked:\n',
    ...not_checked.map((sentence) => `  - ${sentence}\n`),
  ].join('')
}

/**
 * The lines of an export in a file. Throws `CliError` for a file without one valid line: it is something else
 * and must not make the ledger look tampered. Invalid lines before the first valid one are empty, which is not
 * valid either.
 */
async function* linesOfExport(file: string): AsyncGenerator<string> {
  let invalid = 0
  let isExport = false
  for await (const line of exportLines(bytesOf(file))) {
    isExport ||= parseExportLine(line) !== null
    if (!isExport) {
      invalid++
      continue
    }
    for (; invalid > 0; invalid--) yield ''
    yield line
  }
  if (!isExport) throw new CliError(`${file} is not an export of a ledger`)
}

interface CheckpointFile extends ExternalCheckpoint {
  readonly path: string
}

/**
 * Reads the checkpoint of a file: the note itself, or the JSON of `ledger watch` or `--json` around
 * it. Throws `CliError` if there is none.
 */
export function readCheckpointFile(path: string): CheckpointFile {
  const given = parseExternalCheckpoint(noteIn(readText(path)))
  if (given === null)
    throw new CliError(`${path} is not a signed checkpoint from \`remit ledger checkpoint\``)
  return { ...given, path }
}

/**
 * Rejects checkpoints of another ledger than that of `origin`. Skipped if no entry records it: the
 * verification reports that.
 */
export function requireOrigin(files: readonly CheckpointFile[], origin: string | null): void {
  if (origin === null) return
  const other = files.find((file) => file.origin !== origin)
  if (other) throw new CliError(`${other.path} has the origin ${other.origin} instead of ${origin}`)
}

function noteIn(text: string): string {
  if (!text.startsWith('{')) return text
  const { note } = (parseJson(text) ?? {}) as { note?: unknown }
  return typeof note === 'string' ? note : text
}
