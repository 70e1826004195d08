import { canonical } from '../../src/jcs.ts'
import { exportOf, sha256 } from './ledger.ts'
import type { Draft } from './ledger.ts'

const FROM = '2026-02-01T00:00:00.000Z'
const TO = '2026-03-01T00:00:00.000Z'
const ACTOR = { type: 'key', id: 'key_1' }

const BEFORE: readonly Draft[] = [
  { kind: 'agent.registered', at: '2026-01-20T00:00:00.000Z' },
  { kind: 'policy.created', at: '2026-01-31T23:59:59.999Z' },
]
const IN_PERIOD: readonly Draft[] = [
  { kind: 'authorization.decided', at: FROM },
  { kind: 'authorization.decided', at: '2026-02-10T10:00:00.000Z', data: { amount_usd: '9.50' } },
  { kind: 'entry.appended', at: '2026-02-11T10:00:00.000Z' },
  { kind: 'authorization.decided', at: '2026-02-28T23:59:59.999Z' },
]
const AFTER: readonly Draft[] = [{ kind: 'authorization.decided', at: TO }]

const drafts = [...BEFORE, ...IN_PERIOD, ...AFTER]
const hashAt = (lines: readonly string[], seq: number): string =>
  (JSON.parse(lines[seq + 1]!) as { hash: string }).hash

/** A report on these entries. Parts can be replaced before it is hashed. */
export function contentOf(change: Readonly<Record<string, unknown>> = {}) {
  const evidence = (kind: string, sample: readonly number[]) => ({
    kind,
    operated: true,
    reason: null,
    count: sample.length,
    first_seq: sample[0] ?? null,
    last_seq: sample.at(-1) ?? null,
    sample,
  })
  return {
    schema: 'report/1',
    framework: { id: 'soc2', name: 'SOC 2', version: '2017' },
    catalog: { version: '1', sha256: sha256('catalogue') },
    organization: { id: 'org_acme', name: 'Acme' },
    scope: { statement: 'All', categories: ['security'], role: null, plan: 'team' },
    period: { from: FROM, to: TO },
    ledger: {
      first_seq: 3,
      last_seq: 6,
      entries: 4,
      by_kind: { 'authorization.decided': 3, 'entry.appended': 1 },
      hash_at_last: hashAt(exportOf(drafts), 6),
      verified: true,
    },
    summary: { total: 2, satisfied: 1, attention: 0, not_evidenced: 0, manual: 1 },
    controls: [
      { id: 'CC7.2', evidence: [evidence('authorization_decisions', [3, 4, 6])] },
      { id: 'CC1.1', evidence: [] },
    ],
    findings: [{ id: 'F-0001', text: 'Amounts of 9.50', seqs: [1, 4] }],
    ...change,
  }
}

/** A report, and an export with the entry that records it; members of that can be replaced, or left out as undefined. */
export function reportAndExport(
  content: Readonly<Record<string, unknown>> = contentOf(),
  generated_at = '2026-03-02T08:00:00.000Z',
  recorded: Readonly<Record<string, unknown>> = {},
) {
  const content_sha256 = sha256(canonical(content))
  const head = drafts.length
  const csv_sha256 = sha256('csv')
  const checkpoint = { seq: head, hash: hashAt(exportOf(drafts), head) }
  const ledger_head = {
    size: head + 1,
    hash: checkpoint.hash,
    verified: true,
    first_bad_seq: null,
    anchors_checked: 3,
  }
  const data = {
    report_id: 'rpt_1',
    framework: 'soc2',
    from: FROM,
    to: TO,
    content_sha256,
    csv_sha256,
    catalog_sha256: sha256('catalogue'),
    categories: ['security'],
    role: null,
    requested_at: generated_at,
    summary: { total: 2, satisfied: 1, attention: 0, not_evidenced: 0, manual: 1 },
    verified: true,
    evaluation: true,
    ledger_head,
    checkpoint,
    ...recorded,
  }
  const said = JSON.parse(JSON.stringify(data)) as Record<string, unknown>
  const record: Draft = { kind: 'report.generated', at: generated_at, data: said, actor: ACTOR }
  const report = {
    id: 'rpt_1',
    framework: 'soc2',
    period: { from: FROM, to: TO },
    status: 'ready',
    generated_at,
    generated_by: ACTOR,
    evaluation: true,
    content_sha256,
    csv_sha256,
    record_seq: head + 1,
    ledger_head,
    content,
  }
  return { report, lines: exportOf([...drafts, record]) }
}
