import type { ExportVerdict } from './export.ts'
import type { ReportVerdict } from './report.ts'
import type { Verdict } from './run.ts'

const LEDGER: Readonly<Record<ExportVerdict['status'], string>> = {
  ok: 'OK',
  tampered: 'TAMPERED',
  behind_checkpoint: 'BEHIND A CHECKPOINT: signed entries are missing',
  incomplete: 'INCOMPLETE: the export does not reach its signed end',
}

const SHOWN = 10

/** Formats the result for a person, including its limits. */
export const describe = ({ ledger, reports }: Verdict): string =>
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

/** Characters that steer a terminal, reorder text, end a line or are invisible; letters that look blank too. */
const UNSEEN =
  /[\u{16FE4}\p{C}\p{Zl}\p{Zp}[\p{Zs}--\x20]\p{Default_Ignorable_Code_Point}\u2800\uFFFC\u{13441}\u{13442}\u{1D159}]/gv

/** Makes text of a file safe for a terminal. */
export const printable = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
