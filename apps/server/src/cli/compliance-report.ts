import { Framework, FrameworkRole, REPORT_FORMATS, ReportRequest } from '@remit/contract'
import type { ReadyReport, ReportFormat } from '@remit/contract'
import { openFindingsText } from '@remit/contract/report-texts'
import type { Compliance } from '@remit/core/module'
import type { Command } from 'commander'
import type { Booted } from '../boot/boot.ts'
import { choice, orgOption, subcommand } from './command.ts'
import { CliError } from './errors.ts'
import { admitFile, REPLACE, writeWhole } from './files.ts'
import { createProgress } from './progress.ts'
import type { CommandRun } from './session.ts'
import { facts } from './table.ts'

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

export function complianceReportCommand(
  compliance: Command,
  session: CommandRun,
  offered: (booted: Booted) => Compliance,
): void {
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
        const { report, text } = await offered(booted)
          .report(id, request, { format: options.format }, (done) => progress.update(done))
          .finally(() => progress.end())
        const { out } = options
        if (out === undefined) {
          session.io.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
          return
        }
        await writeWhole([text], out)
        session.print(summaryOf(report, out), describe(report, out))
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

function describe(report: ReadyReport, file: string): string {
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
