import { canonical } from './jcs.ts'
import type { Entry } from './lines.ts'
import { readPayload } from './payload.ts'
import type { Report } from './report-document.ts'

/** Members that early entries of this kind did not have. */
const LATER: ReadonlySet<string> = new Set(['evaluation', 'ledger_head', 'verified'])

/** Compares a report with the entry that records it, in their common members. */
export function recordDifferences(report: Report, entry: Entry): string[] {
  const { recorded_at } = entry
  const read = payloadOf(entry)
  if (read === null) return ['the payload, which is erased or invalid']
  const { content, ledger_head } = report
  const { from, to } = content.period
  const stated = {
    report_id: report.id,
    framework: report.framework,
    from: report.period.from,
    to: report.period.to,
    content_sha256: report.content_sha256,
    csv_sha256: report.csv_sha256,
    catalog_sha256: content.catalog.sha256,
    categories: content.scope.categories,
    role: content.scope.role,
    summary: content.summary,
    verified: content.ledger.verified,
    evaluation: report.evaluation ?? null,
    ledger_head,
    checkpoint: { seq: ledger_head.size - 1, hash: ledger_head.hash },
  }
  const around = {
    generated_at: report.generated_at === recorded_at,
    generated_by: canonical(report.generated_by) === canonical(read.actor),
    // Early reports did not have it.
    generated_by_person:
      report.generated_by_person === undefined ||
      canonical(report.generated_by_person) === canonical(read.data['person'] ?? null),
    'framework of the content': content.framework.id === report.framework,
    'period of the content': from === report.period.from && to === report.period.to,
    // The period must have ended before the report was generated.
    'the recording time': recorded_at >= to,
  }
  return [
    ...Object.entries(stated)
      .filter(([name]) => name in read.data || !LATER.has(name))
      .filter(([name, value]) => canonical(read.data[name] ?? null) !== canonical(value))
      .map(([name]) => name),
    ...Object.entries(around)
      .filter(([, isSo]) => !isSo)
      .map(([name]) => name),
  ]
}

const payloadOf = ({ payload }: Entry) => (payload === null ? null : readPayload(payload))

const RECORDED: ReadonlySet<string> = new Set([
  'id',
  'framework',
  'period',
  'status',
  'generated_at',
  'generated_by',
  'generated_by_person',
  'content_sha256',
  'csv_sha256',
  'record_seq',
  'ledger_head',
  'content',
])

/**
 * Returns the members of a report that neither its hash nor the entry covers. For the head, an
 * entry may have only the checkpoint.
 */
export function unprovenMembers(report: Report, entry?: Entry): string[] {
  const said = (entry && payloadOf(entry)?.data) ?? {}
  const isHeadRecorded = 'ledger_head' in said
  const isRecorded = (name: string) => RECORDED.has(name) || (LATER.has(name) && name in said)
  return [
    ...Object.keys(report).filter((name) => !isRecorded(name)),
    ...Object.keys(report.ledger_head)
      .filter((name) => !isHeadRecorded && name !== 'size' && name !== 'hash')
      .map((name) => `ledger_head.${name}`),
  ]
}
