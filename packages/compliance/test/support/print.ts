import type { Framework, ReadyReport, ReportContent } from '@remit/contract'
import { catalogue } from '../../src/catalogue/catalogue.ts'
import { scopeOf } from '../../src/catalogue/report-scope.ts'
import type { PeriodFacts } from '../../src/facts/index.ts'
import { contentOf, sealed } from '../../src/report/document.ts'
import { BAD_FACTS, GOOD_CHAIN, GOOD_REPORT } from './bad-facts.ts'
import type { Given } from './bad-facts.ts'
import { factsOf } from './facts.ts'
import { goodLedger } from './good-ledger.ts'

export const FRAMEWORKS: readonly Framework[] = ['soc2', 'eu_ai_act', 'nist_ai_rmf']

/** The facts of a good quarter, with a bad fact for each of these checks. */
export function quarter(...checks: readonly string[]): PeriodFacts {
  const good = { said: goodLedger(), chain: GOOD_CHAIN, report: GOOD_REPORT }
  const given = checks.reduce<Given>((so, check) => BAD_FACTS[check]?.(so) ?? so, good)
  const chain = { ...given.chain, hashAtLast: 'a'.repeat(64) }
  return factsOf(given.said, { chain, reports: [given.report] })
}

/** A finished report on some facts, as it is stored; `change` comes before its content is hashed. */
export function reportOn(
  framework: Framework,
  facts: PeriodFacts,
  change: (content: ReportContent) => ReportContent = (content) => content,
): ReadyReport {
  const of = catalogue(framework)
  const everything = { categories: Object.keys(of.framework.groups ?? {}) }
  const scope = scopeOf(of, everything.categories.length > 0 ? everything : {})
  const content = change(contentOf(of, scope, facts))
  const { sha256 } = sealed(content)
  return {
    id: 'rpt_01k9zv6x8f3q0m5t7w2y4b6d8e',
    framework,
    period: content.period,
    status: 'ready',
    generated_at: '2026-04-02T08:00:00.000Z',
    generated_by: { type: 'key', id: 'key_01k9zv6x8f3q0m5t7w2y4b6d8e' },
    evaluation: false,
    content_sha256: sha256,
    csv_sha256: 'c'.repeat(64),
    record_seq: 412,
    ledger_head: {
      size: 412,
      hash: 'b'.repeat(64),
      verified: true,
      first_bad_seq: null,
      anchors_checked: 4,
    },
    content,
  }
}

/** The same report with a name from outside wherever one can be. */
export const named = (report: ReadyReport, name: string): ReadyReport => ({
  ...report,
  generated_by: { type: 'credential', id: name },
  content: {
    ...report.content,
    organization: { id: 'org_acme', name },
    findings: report.content.findings.map((one) => ({ ...one, text: `Agent ${name} did it.` })),
    metrics: report.content.metrics.map((one) => ({
      ...one,
      value: { [name]: 1, agents: [name] },
    })),
    ledger: { ...report.content.ledger, by_kind: { 'entry.appended': 1 } },
  },
})
