import { createLedgerSigner } from '@remit/core/ledger/proofs'
import { fileArchive, finishPruning, planPruning, pruneLedger } from '@remit/core/orgs'
import type { Pruned, PrunePlan, PruneQuestion, PruneStep, PruneUpTo } from '@remit/core/orgs'
import type { Command } from 'commander'
import type { Booted } from '../boot/boot.ts'
import { orgOption, subcommand } from './command.ts'
import { CliError } from './errors.ts'
import { writing } from './files.ts'
import { FULL_LOG } from './ledger-erase.ts'
import { createProgress } from './progress.ts'
import type { Progress } from './progress.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { facts } from './table.ts'
import { readCount, readEmail, readReason, readTime } from './option-values.ts'

interface PruneOptions {
  readonly org?: string
  readonly before?: string
  readonly keepDays?: string
  readonly export: string
  readonly reason: string
  readonly person?: string
  readonly acknowledgeShortRetention?: true
  readonly yes?: true
}

export function pruneCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'prune', 'Remove the oldest entries after exporting them to a file')
    .addOption(orgOption())
    .option('--before <time>', 'Remove entries recorded before this date or RFC 3339 time')
    .option('--keep-days <days>', 'Remove entries older than this number of days')
    .requiredOption('--export <file>', 'File for the removed entries; it must not exist')
    .option('--reason <text>', 'Reason, for the ledger', 'the retention of the organization')
    .option('--person <e-mail>', 'Person who ordered it, for the ledger')
    .option('--acknowledge-short-retention', 'Confirm that a retention below 183 days is intended')
    .option('--yes', 'Prune; without it, only print the plan')
    .action((options: PruneOptions) =>
      session.product(async (booted) => {
        const { id } = await organizationOf(booted.db, options.org)
        const question = {
          upTo: upToOf(options),
          acknowledgeShortRetention: options.acknowledgeShortRetention ?? false,
        }
        await (options.yes
          ? prune(session, booted, id, question, options)
          : preview(session, booted, id, question))
      }),
    )
}

function upToOf({ before, keepDays }: PruneOptions): PruneUpTo {
  if ((before === undefined) === (keepDays === undefined)) {
    throw new CliError('--before or --keep-days is required')
  }
  return before === undefined
    ? { keepDays: readCount('--keep-days', keepDays ?? '') }
    : { before: readTime('--before', before) }
}

async function preview(
  session: CommandRun,
  { db, clock }: Booted,
  id: string,
  question: PruneQuestion,
): Promise<void> {
  const plan = await planPruning(db, id, question, clock.now())
  for (const warning of plan?.warnings ?? []) session.warn(warning)
  session.print(
    { org_id: id, planned: plan && factsOf(plan), pruned: null },
    plan === null ? NOTHING : `${shown(plan)}Nothing was removed; add --yes to prune.\n`,
  )
}

const NOTHING = 'Nothing to prune: no stored checkpoint precedes the entries to keep.\n'

async function prune(
  session: CommandRun,
  { db, clock, remit, ledgerKey }: Booted,
  id: string,
  question: PruneQuestion,
  { export: file, reason, person }: PruneOptions,
): Promise<void> {
  const onStep = progressOf(session)
  // Removes the rows that an interrupted pruning left.
  const left = await finishPruning(db, id, onStep)
  const signer = createLedgerSigner(ledgerKey)
  const pruned = await writing(file, (path) =>
    pruneLedger({ db, clock, signer, writer: remit.writer }, id, {
      ...question,
      archive: fileArchive(path),
      reason: readReason(reason),
      person: person === undefined ? undefined : readEmail(person),
      onStep,
    }),
  ).finally(onStep.end)
  for (const warning of pruned?.plan.warnings ?? []) session.warn(warning)
  if (!left.log_emptied || pruned?.log_emptied === false) session.warn(FULL_LOG)
  session.print(
    {
      org_id: id,
      planned: null,
      left_over: left.removed,
      pruned: pruned && resultOf(pruned, file),
    },
    (left.removed > 0 ? `Removed ${left.removed} entries left by an interrupted pruning.\n` : '') +
      (pruned === null ? NOTHING : `${shown(pruned.plan)}${done(pruned, file)}`),
  )
}

const factsOf = ({ from_seq, cut, cutoff, retention_days, short, warnings }: PrunePlan) => ({
  from_seq,
  cut,
  entries: cut - from_seq,
  cutoff,
  retention_days,
  short,
  warnings,
})

const resultOf = ({ plan, seq, export_sha256, carried, removed }: Pruned, file: string) => ({
  ...factsOf(plan),
  seq,
  file,
  export_sha256,
  carried,
  removed,
})

const shown = ({ from_seq, cut, cutoff, retention_days }: PrunePlan): string =>
  facts({
    'entries to remove': `${cut - from_seq}, seq ${from_seq} to ${cut - 1}`,
    'recorded before': cutoff,
    'retention in days': retention_days,
  })

const done = ({ seq, export_sha256, carried }: Pruned, file: string): string =>
  facts({
    export: file,
    'sha-256': export_sha256,
    'carried over': `${carried} entries`,
    'recorded as entry': seq,
  })

/** Prints one progress line per step. */
function progressOf({ io }: CommandRun) {
  let current: { readonly step: PruneStep; readonly progress: Progress } | null = null
  const end = () => current?.progress.end()
  const onStep = (step: PruneStep, count: number) => {
    if (current?.step !== step) {
      end()
      current = { step, progress: createProgress(io.stderr, (of) => `${step} ${of} entries`) }
    }
    current.progress.update(count)
  }
  return Object.assign(onStep, { end })
}
