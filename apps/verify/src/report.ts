import { hash } from 'node:crypto'
import { canonical, isObject, parseJson, readPayload } from './jcs.ts'
import type { Entry } from './lines.ts'
import { isEvidence, isKnown } from './evidence-kinds.ts'
import { readReport } from './report-document.ts'
import type { Report } from './report-document.ts'

export interface ReportError {
  readonly code:
    | 'content_changed'
    | 'other_ledger'
    | 'record_missing'
    | 'record_differs'
    | 'period_differs'
    | 'head_differs'
    | 'entry_missing'
    | 'evidence_differs'
    | 'finding_differs'
  readonly detail: string
}

export interface ReportVerdict {
  readonly status: 'ok' | 'wrong'
  readonly report_id: string
  readonly framework: string
  readonly period: { readonly from: string; readonly to: string }
  readonly content_sha256: string
  readonly record_seq: number
  /** Number of sequence numbers of the report that were looked up in the export. */
  readonly looked_up: number
  /** The first hundred. */
  readonly errors: readonly ReportError[]
  readonly error_count: number
  readonly not_checked: readonly string[]
}

/** A check of the entry with one sequence number: null, or its error. */
type EntryCheck = (entry: Entry) => ReportError | null

const KEPT = 100

/**
 * Compares a stored report with the entries of an export as they stream by. Keeps the report and
 * the checks of single entries, never the entries.
 */
export class ReportCheck {
  readonly #report: Report
  readonly #errors: ReportError[] = []
  #errorCount = 0
  readonly #questions = new Map<number, EntryCheck[]>()
  #lookedUp = 0
  #hasRecord = false
  /** Counts of the entries of the period. */
  readonly #byKind = new Map<string, number>()
  #first: number | null = null
  #last: number | null = null
  #hashAtLast: string | null = null
  #isBeforeSeen = false
  #unprovenMembers: readonly string[]

  /** Throws `JsonError` for an invalid report. */
  constructor(text: string) {
    const document = parseJson(text)
    const report = readReport(document)
    this.#report = report
    this.#unprovenMembers = unprovenMembers(report)
    const content = isObject(document) ? document['content'] : null
    if (hash('sha256', canonical(content)) !== report.content_sha256)
      this.#wrong({
        code: 'content_changed',
        detail: 'content_sha256 is not the hash of the content',
      })
    this.#ask(report.record_seq, (entry) => this.#record(entry))
    const { size, hash: head } = report.ledger_head
    this.#ask(size - 1, (entry) =>
      entry.hash === head
        ? null
        : { code: 'head_differs', detail: `the hash of seq ${entry.seq} is ${entry.hash}` },
    )
    for (const { id, evidence } of report.content.controls)
      for (const { kind, sample, first_seq, last_seq } of evidence)
        for (const seq of new Set([...sample, first_seq, last_seq]))
          if (seq !== null) this.#ask(seq, (entry) => this.#evidence(id, kind, entry))
    for (const { id, seqs } of report.content.findings)
      for (const seq of new Set(seqs)) this.#ask(seq, (entry) => this.#finding(id, entry))
  }

  entry(entry: Entry): void {
    const { from, to } = this.#report.content.period
    if (entry.recorded_at < from) this.#isBeforeSeen = true
    else if (entry.recorded_at < to) this.#count(entry)
    const questions = this.#questions.get(entry.seq)
    if (questions === undefined) return
    this.#questions.delete(entry.seq)
    this.#lookedUp++
    for (const ask of questions) {
      const error = ask(entry)
      if (error !== null) this.#wrong(error)
    }
  }

  /** Returns the result, after all entries from `from` on of the ledger of `orgId`. */
  end(orgId: string | null, from: number): ReportVerdict {
    const { id, framework, content_sha256, record_seq, content } = this.#report
    const notChecked: string[] = []
    if (content.organization.id !== orgId)
      this.#wrong({
        code: 'other_ledger',
        detail: `the report is for the organization ${content.organization.id}`,
      })
    if (!this.#hasRecord)
      this.#wrong({
        code: 'record_missing',
        detail: `the export has no report.generated entry at seq ${record_seq}`,
      })
    const differences = this.#differences()
    if (differences.length > 0 && from > 0 && !this.#isBeforeSeen) {
      notChecked.push(
        `The counts of the period: the export starts within the period, at seq ${from} (${differences.join('; ')}).`,
      )
    } else {
      for (const detail of differences) this.#wrong({ code: 'period_differs', detail })
    }
    this.#checkLeft(from, notChecked)
    const kinds = content.controls.flatMap(({ evidence }) => evidence.map(({ kind }) => kind))
    const unknown = [...new Set(kinds.filter((kind) => !isKnown(kind)))]
    if (unknown.length > 0)
      notChecked.push(
        `The evidence of ${unknown.join(', ')}: this version does not know the checks.`,
      )
    if (this.#unprovenMembers.length > 0) {
      notChecked.push(`${this.#unprovenMembers.join(', ')}: no hash and no entry covers them.`)
    }
    notChecked.push(
      'The conclusions of the report: statuses, values and findings come from the program that generated it.',
    )
    return {
      status: this.#errorCount === 0 ? 'ok' : 'wrong',
      report_id: id,
      framework,
      period: content.period,
      content_sha256,
      record_seq,
      looked_up: this.#lookedUp,
      errors: this.#errors,
      error_count: this.#errorCount,
      not_checked: notChecked,
    }
  }

  #ask(seq: number, question: EntryCheck): void {
    const others = this.#questions.get(seq)
    if (others === undefined) this.#questions.set(seq, [question])
    else others.push(question)
  }

  #wrong(error: ReportError): void {
    this.#errorCount++
    if (this.#errors.length < KEPT) this.#errors.push(error)
  }

  #count({ seq, kind, hash: entryHash }: Entry): void {
    this.#hashAtLast = entryHash
    this.#first ??= seq
    this.#last = seq
    this.#byKind.set(kind, (this.#byKind.get(kind) ?? 0) + 1)
  }

  /** Checks the entry of the report, which was written in the same transaction. */
  #record(entry: Entry): ReportError | null {
    if (entry.kind !== 'report.generated') return null
    this.#hasRecord = true
    this.#unprovenMembers = unprovenMembers(this.#report, entry)
    const differing = recordDifferences(this.#report, entry)
    if (differing.length === 0) return null
    return { code: 'record_differs', detail: `seq ${entry.seq}: ${differing.join(', ')}` }
  }

  #evidence(control: string, evidence: string, entry: Entry): ReportError | null {
    if (isEvidence(evidence, entry, this.#report.content.period)) return null
    const { seq, kind, recorded_at } = entry
    const detail = `${control}: seq ${seq}, ${kind} of ${recorded_at}, is not evidence of ${evidence}`
    return { code: 'evidence_differs', detail }
  }

  #finding(finding: string, { seq, recorded_at }: Entry): ReportError | null {
    if (recorded_at < this.#report.content.period.to) return null
    return { code: 'finding_differs', detail: `${finding}: seq ${seq} is later than the period` }
  }

  /** Compares the counts of the period with those of the report. */
  #differences(): string[] {
    const { ledger } = this.#report.content
    const counts = [...this.#byKind.values()]
    const found = {
      first_seq: this.#first,
      last_seq: this.#last,
      entries: counts.reduce((sum, count) => sum + count, 0),
      by_kind: Object.fromEntries(this.#byKind),
      hash_at_last: this.#hashAtLast,
    }
    return Object.entries(found)
      .filter(([name, value]) => canonical(value) !== canonical(ledger[name as keyof typeof found]))
      .map(([name, value]) => `${name} is ${canonical(value)} in the export`)
  }

  /** Reports sequence numbers of the report that the export does not have. */
  #checkLeft(from: number, notChecked: string[]): void {
    const left = [...this.#questions.keys()].filter((seq) => seq !== this.#report.record_seq)
    const earlier = left.filter((seq) => seq < from).length
    if (earlier > 0) {
      notChecked.push(`${earlier} sequence numbers of the report: they precede the export.`)
    }
    for (const seq of left.filter((one) => one >= from))
      this.#wrong({
        code: 'entry_missing',
        detail: `the report refers to seq ${seq}, which the export does not have`,
      })
  }
}

/** Members that early entries of this kind did not have. */
const LATER: ReadonlySet<string> = new Set(['evaluation', 'ledger_head', 'verified'])

/** Compares a report with the entry that records it, in their common members. */
function recordDifferences(report: Report, entry: Entry): string[] {
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
function unprovenMembers(report: Report, entry?: Entry): string[] {
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
