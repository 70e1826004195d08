import type { Readable, Writable } from 'node:stream'
import { describe, printable } from './describe.ts'
import { verifyExport } from './export.ts'
import type { ExportVerdict } from './export.ts'
import { bytesOf, CannotRun, readText, reasonOf } from './files.ts'
import { JsonError } from './jcs.ts'
import { linesOf, readLine } from './lines.ts'
import { readArguments, USAGE } from './options.ts'
import type { Options } from './options.ts'
import { ReportCheck } from './report.ts'
import type { ReportVerdict } from './report.ts'

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
