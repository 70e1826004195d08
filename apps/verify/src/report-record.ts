import { canonical, isObject } from './jcs.ts'
import type { Entry } from './lines.ts'
import { readPayload } from './payload.ts'
import type { Report } from './report-document.ts'

/** What of a report lies outside of its hashed content and is told by the entry that records it. */
export function recordDifferences(report: Report, { recorded_at, payload }: Entry): string[] {
  const read = payload === null ? null : readPayload(payload)
  if (read === null) return ['its payload, which was erased or cannot be read']
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
    checkpoint: { seq: ledger_head.size - 1, hash: ledger_head.hash },
  }
  const around = {
    generated_at: report.generated_at === recorded_at,
    generated_by: canonical(report.generated_by) === canonical(read.actor),
    'framework of the content': content.framework.id === report.framework,
    'period of the content': from === report.period.from && to === report.period.to,
    // What is reported on was over when the report was made.
    'its time': recorded_at >= to,
  }
  return [
    ...Object.entries(stated)
      .filter(([name, value]) => canonical(read.data[name] ?? null) !== canonical(value))
      .map(([name]) => name),
    ...Object.entries(around)
      .filter(([, isSo]) => !isSo)
      .map(([name]) => name),
  ]
}

const RECORDED: ReadonlySet<string> = new Set([
  'id',
  'framework',
  'period',
  'status',
  'generated_at',
  'generated_by',
  'content_sha256',
  'csv_sha256',
  'record_seq',
  'ledger_head',
  'content',
])

/** Members of a report that neither its hash nor the entry covers: anyone could have written them. */
export function unrecorded(document: unknown): string[] {
  if (!isObject(document)) return []
  const head = isObject(document['ledger_head']) ? document['ledger_head'] : {}
  return [
    ...Object.keys(document).filter((name) => !RECORDED.has(name)),
    ...Object.keys(head)
      .filter((name) => name !== 'size' && name !== 'hash')
      .map((name) => `ledger_head.${name}`),
  ]
}
