import type { LedgerVerification } from '@remit/contract'
import type { Compliance } from '@remit/core/module'
import type { Command } from 'commander'
import type { Booted } from '../boot/boot.ts'
import { readCheckpointFile, requireOrigin } from './checkpoint-file.ts'
import { orgOption, subcommand } from './command.ts'
import { EXIT, refusingAsCouldNotRun } from './errors.ts'
import { createProgress } from './progress.ts'
import type { CommandRun } from './session.ts'
import { facts } from './table.ts'
import { readCount } from './option-values.ts'

interface VerifyOptions {
  readonly org?: string
  readonly fromSeq?: string
  readonly toSeq?: string
  readonly checkpoint?: readonly string[]
}

export function complianceVerifyCommand(
  compliance: Command,
  session: CommandRun,
  offered: (booted: Booted) => Compliance,
): void {
  subcommand(compliance, 'verify', 'Verify the ledger and its reports, and record the result')
    .addOption(orgOption())
    .option('--from-seq <seq>', 'First entry to verify')
    .option('--to-seq <seq>', 'Last entry to verify')
    .option('--checkpoint <file...>', 'File of external checkpoints')
    .action((options: VerifyOptions) =>
      refusingAsCouldNotRun(() => verify(session, options, offered)),
    )
}

async function verify(
  session: CommandRun,
  { org, fromSeq, toSeq, checkpoint = [] }: VerifyOptions,
  offered: (booted: Booted) => Compliance,
): Promise<void> {
  const files = checkpoint.map(readCheckpointFile)
  const request = {
    checkpoints: files.map(({ note }) => note),
    ...(fromSeq !== undefined && { from_seq: readCount('--from-seq', fromSeq) }),
    ...(toSeq !== undefined && { to_seq: readCount('--to-seq', toSeq) }),
  }
  await session.reading(org, async (booted, { id }) => {
    const compliance = offered(booted)
    requireOrigin(files, await booted.remit.ledger.recordedOrigin(id))
    const progress = createProgress(session.io.stderr, (done) => `verified ${done} entries`)
    const found = await compliance
      .verify(id, request, (done) => progress.update(done))
      .finally(() => progress.end())
    session.print(found, describe(found))
    if (!found.valid) session.exitCode = EXIT.failed
  })
}

const SHOWN_ERRORS = 10

/** Formats the result for a person, including its limits. */
function describe(found: LedgerVerification): string {
  const { valid, status, checked, head, anchored_by, checkpoints, reports } = found
  const { errors, error_count, not_checked, ledger, not_recorded } = found
  const shown = errors.slice(0, SHOWN_ERRORS)
  return [
    `${valid ? 'VALID' : status.toUpperCase().replaceAll('_', ' ')}\n`,
    facts({
      entries: `${checked.entries}, seq ${checked.from_seq} to ${checked.to_seq}`,
      head: head.hash,
      'anchored by': anchored_by,
      checkpoints: `${checkpoints.checked} compared, ${checkpoints.mismatched} wrong`,
      reports: `${reports.checked} compared, ${reports.mismatched} wrong`,
      errors: error_count,
      recorded: ledger === null ? `no: ${not_recorded ?? ''}` : `as entry ${ledger.seq}`,
    }),
    ...shown.map(
      ({ seq, code, detail }) =>
        `  seq ${seq}: ${code}${detail === undefined ? '' : `, ${detail}`}\n`,
    ),
    error_count > shown.length ? `  and ${error_count - shown.length} more\n` : '',
    'Not checked:\n',
    ...not_checked.map((sentence) => `  - ${sentence}\n`),
  ].join('')
}
