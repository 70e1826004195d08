import type { Plan } from '@remit/contract'
import { CHECKS } from '../../src/catalogue/catalogue.ts'
import { EVIDENCE_KINDS } from '../../src/facts/evidence-kinds.ts'
import { reportQueryOf } from '../../src/facts/index.ts'
import type { Evidence, PeriodFacts, CheckOutcome } from '../../src/facts/index.ts'
import { VALID_CHAIN } from '../../src/facts/external-facts.ts'
import { ms } from './by-hand.ts'

export const passed = (check: string): CheckOutcome => ({
  check,
  population: 1000,
  days: 90,
  ok: true,
  value: { count: 0 },
  threshold: '0',
  relaxed: false,
  failures: [],
})

export const notApplicable = (check: string): CheckOutcome => ({ ...passed(check), population: 0 })

export const failed = (check: string, seqs: readonly number[] = [5, 9]): CheckOutcome => ({
  ...passed(check),
  ok: false,
  failures: [{ params: { n: seqs.length }, count: seqs.length, seqs }],
})

export const operated = (kind: string): Evidence => ({
  kind: kind as Evidence['kind'],
  operated: true,
  reason: null,
  count: 3,
  firstSeq: 4,
  lastSeq: 9,
  sample: [4, 5, 9],
})

export const idle = (kind: string, reason: Evidence['reason'] = 'not_exercised'): Evidence => ({
  ...operated(kind),
  operated: false,
  reason,
  count: 0,
  firstSeq: null,
  lastSeq: null,
  sample: [],
})

export interface Given {
  readonly plan?: Plan
  /** In place of the outcome that passes. */
  readonly outcomes?: readonly CheckOutcome[]
  readonly evidence?: readonly Evidence[]
  readonly chain?: Partial<PeriodFacts['outside']['chain']>
  readonly name?: string
  readonly days?: Partial<PeriodFacts['days']>
}

/** Facts in which every check passed and everything was at work, but for what is given. */
export const factsWith = ({
  plan,
  outcomes = [],
  evidence = [],
  chain,
  name,
  days,
}: Given = {}): PeriodFacts => {
  const period = { orgId: 'org_acme', from: ms('2026-01-01'), to: ms('2026-04-01') }
  const given = new Map(outcomes.map((outcome) => [outcome.check, outcome]))
  const shown = new Map<string, Evidence>(evidence.map((one) => [one.kind, one]))
  return {
    question: reportQueryOf(period),
    organization: {
      id: 'org_acme',
      name: name ?? 'Acme',
      plan: plan ?? 'enterprise',
      createdAt: 0,
    },
    ledger: { entries: 6, firstSeq: 4, lastSeq: 9, byKind: { 'a.b': 6 }, lastSeqBeforeEnd: 9 },
    days: {
      use: 90,
      first_to_last: 90,
      record: 400,
      organization: 400,
      ...days,
    },
    entries: new Map(),
    metrics: [{ id: 'M01', value: { entries: 6 }, population: 6 }],
    checks: [...CHECKS.keys()].map((check) => given.get(check) ?? passed(check)),
    evidence: [...EVIDENCE_KINDS.keys()].map((kind) => shown.get(kind) ?? operated(kind)),
    outside: { chain: { ...VALID_CHAIN, hashAtLast: 'a'.repeat(64), ...chain }, reports: [] },
  }
}
