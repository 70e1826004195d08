import type { Command } from 'commander'
import { Framework, FrameworkRole, REPORT_FORMATS, ReportRequest } from '@remit/contract'
import type { LedgerVerification, ReadyReport, ReportFormat } from '@remit/contract'
import { openFindingsText } from '@remit/contract/report-texts'
import { CliError, EXIT, refusingAsCouldNotRun } from './errors.ts'
import { portOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { errorsAndLimits, readCheckpointFile, requireOrigin } from './ledger-verify.ts'
import { readCount, orgOption, subcommand, choice } from './options.ts'
import { createProgress, facts } from './table.ts'
import { admitFile, REPLACE, writeWhole } from './files.ts'

export function complianceCommands(program: Command, session: CommandRun): void {
  const compliance = program.command('compliance').description('Compliance reports from the ledger')
  reportCommand(compliance, session)
  verifyCommand(compliance, session)
}

const NO_REPORTS = 'Compliance reports are not available in this edition.'

interface VerifyOptions {
  readonly org?: string
  readonly fromSeq?: string
  readonly toSeq?: string
  readonly checkpoint?: readonly string[]
}

function verifyCommand(compliance: Command, session: CommandRun): void {
  subcommand(compliance, 'verify', 'Verify the ledger and its reports, and record the result')
    .addOption(orgOption())
    .option('--from-seq <seq>', 'First entry to verify')
    .option('--to-seq <seq>', 'Last entry to verify')
    .option('--checkpoint <file...>', 'File of external checkpoints')
    .action((options: VerifyOptions) => refusingAsCouldNotRun(() => verify(session, options)))
}

async function verify(
  session: CommandRun,
  { org, fromSeq, toSeq, checkpoint = [] }: VerifyOptions,
): Promise<void> {
  const files = checkpoint.map(readCheckpointFile)
  const request = {
    checkpoints: files.map(({ note }) => note),
    ...(fromSeq !== undefined && { from_seq: readCount('--from-seq', fromSeq) }),
    ...(toSeq !== undefined && { to_seq: readCount('--to-seq', toSeq) }),
  }
  await session.reading(org, async (booted, { id }) => {
    const compliance = portOf(booted, 'compliance', NO_REPORTS)
    requireOrigin(files, await booted.remit.ledger.recordedOrigin(id))
    const progress = createProgress(session.io.stderr, (done) => `verified ${done} entries`)
    const found = await compliance
      .verify(id, request, (done) => progress.update(done))
      .finally(() => progress.end())
    session.print(found, describe(found))
    if (!found.valid) session.exitCode = EXIT.failed
  })
}

/** Formats the result for a person, including its limits. */
function describe(found: LedgerVerification): string {
  const { valid, status, checked, head, anchored_by, checkpoints, reports } = found
  const { error_count, ledger, not_recorded } = found
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
    errorsAndLimits(found),
  ].join('')
}

interface ReportOptions {
  readonly org?: string
  readonly framework: string
  readonly from?: string
  readonly to?: string
  readonly category?: readonly string[]
  readonly role?: string
  readonly format: ReportFormat
  readonly out?: string
  readonly replace?: boolean
}

function reportCommand(compliance: Command, session: CommandRun): void {
  subcommand(compliance, 'report', 'Generate a report on a period and record it')
    .addOption(orgOption())
    .addOption(
      choice(
        '--framework <id>',
        'Framework of the report',
        Framework.options,
      ).makeOptionMandatory(),
    )
    .option('--from <date>', 'Start, a UTC day or an RFC 3339 time')
    .option('--to <date>', 'End; a day is included completely')
    .option('--category <name...>', 'Categories of the framework')
    .addOption(choice('--role <role>', 'Role under the EU AI Act', FrameworkRole.options))
    .addOption(
      choice('--format <format>', 'Format of the document', REPORT_FORMATS).default('json'),
    )
    .option('--out <file>', 'File to write atomically; default: standard output')
    .option(...REPLACE)
    .action((options: ReportOptions) =>
      session.reading(options.org, async (booted, { id }) => {
        if (options.out !== undefined) admitFile(options.out, options.replace)
        const request = readRequest(options)
        const progress = createProgress(session.io.stderr, (done) => `read ${done} entries`)
        const { report, text } = await portOf(booted, 'compliance', NO_REPORTS)
          .report(id, request, { format: options.format }, (done) => progress.update(done))
          .finally(() => progress.end())
        const { out } = options
        if (out === undefined) {
          session.io.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
          return
        }
        await writeWhole([text], out)
        session.print(summaryOf(report, out), describeReport(report, out))
      }),
    )
}

function readRequest({ framework, from, to, category, role }: ReportOptions): ReportRequest {
  const given = {
    framework,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(category && { categories: category }),
    ...(role !== undefined && { role }),
  }
  const { data, error } = ReportRequest.safeParse(given)
  if (data) return data
  const [issue] = error.issues
  const option = String(issue?.path[0]).replace('categories', 'category')
  throw new CliError(`--${option} ${issue?.message ?? 'is not valid'}`)
}

const summaryOf = (report: ReadyReport, file: string) => ({
  id: report.id,
  file,
  framework: report.framework,
  period: report.period,
  content_sha256: report.content_sha256,
  verified: report.content.ledger.verified,
  summary: report.content.summary,
})

function describeReport(report: ReadyReport, file: string): string {
  const { summary, ledger, framework } = report.content
  return facts({
    report: report.id,
    framework: `${framework.name}, ${framework.version}`,
    period: `${report.period.from} to ${report.period.to}`,
    ledger: ledger.verified ? 'verified up to the end of the period' : 'NOT VERIFIED',
    controls: `${summary.total}: ${summary.satisfied} with evidence found, ${summary.attention} attention, ${summary.not_evidenced} not evidenced, ${summary.manual} manual`,
    'open findings': openFindingsText(report.content) ?? 'unknown',
    file,
  })
}
