/** Imported by threads of other packages: see `RuleTrials`. */
import { hash } from 'node:crypto'
import { canonicalJson } from '@remit/contract/json'
import { readingsOf } from '@remit/core/decision'
import type { Ask, Overlay, StageVerdict } from '@remit/core/decision'
import type { OpenTrial } from '@remit/core/module'
import { readOrganization } from '@remit/core/orgs/settings'
import { matching, overlaidRules, rulesByMode } from '../approvals/rule.ts'
import { listRules } from '../approvals/store.ts'
import { policyStage } from '../policies/stage.ts'
import { RuleIndex } from '../rules/rule-index.ts'
import type { Rule } from '../rules/rule-index.ts'

/** The stage of live decisions, and the approval rules that follow it. */
export const openTrial: OpenTrial = async (db, orgId, overlay) => {
  const stage = policyStage()
  const organization = await readOrganization(db, orgId)
  const own = await stage.load({ orgId, tx: db, organization })
  const policies = overlay && stage.overlay ? stage.overlay(own, overlay) : own
  const approvals = await listRules(db, orgId)
  const digest = digestOf({
    policies: own.rules.map(({ id, revision }) => `${id} ${revision}`).toSorted(),
    overlay,
    default_effect: own.defaultEffect,
    approval_rules: approvals.map(({ id, document }) => ({ id, document })),
  })
  const rules = RuleIndex.of(overlaidRules(rulesByMode(approvals), overlay).enforce)
  /** Of the request, or of the first of its readings that does not pass. */
  const verdictOf = (ask: Ask, agent: Readonly<Record<string, unknown>>): StageVerdict => {
    let verdict: StageVerdict = { verdict: 'pass' }
    for (const one of [...readingsOf(ask), ask]) {
      one.agent = agent
      verdict = stage.decide(one, policies)
      if (verdict.verdict !== 'pass') break
    }
    return verdict
  }
  const areAgentsRead = ({ request: { agent_id: id, action } }: Ask): boolean =>
    [policies.index, rules].some((index: RuleIndex<Rule>) =>
      index.candidates(id, action).rules.some(readsAgent),
    )
  return {
    policies: policies.rules.length,
    approvalRules: rules.size,
    defaultEffect: policies.defaultEffect,
    digest,
    judge(ask, agent) {
      if (agent === null && areAgentsRead(ask)) return { says: 'unknown' }
      const verdict = verdictOf(ask, agent ?? {})
      const policy = verdict.notes?.matched?.[0]?.id ?? null
      return verdict.verdict === 'pass'
        ? { says: 'pass', reason: verdict.reason ?? null, policy }
        : { says: 'deny', reason: verdict.reason, policy }
    },
    approvalRulesFor: (ask) => matching(rules, ask, ask.meter).map(({ id }) => id),
  }
}

/** May be true too often: the word can occur in a text. */
const readsAgent = ({ condition }: Rule): boolean =>
  condition !== null && /\bagent\b/.test(condition.text)

const digestOf = (value: { readonly overlay: Overlay | null } & Record<string, unknown>): string =>
  hash('sha256', canonicalJson(JSON.parse(JSON.stringify(value))), 'hex')
