import type { ReadyReport } from '@remit/contract'
import { readyReport } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { live } from './life.ts'
import type { Life } from './life.ts'

describe.skipIf(!hasModules())('a report reads what the other packages write', () => {
  let life: Life
  let report: ReadyReport
  beforeAll(async () => {
    life = await live()
    life.clock.advance(1000)
    const to = new Date(life.clock.now()).toISOString()
    const body = { framework: 'soc2', from: '2026-11-20', to }
    report = await readyReport(life.api, body)
  }, 300_000)
  afterAll(() => life.close())

  it.each([
    ['M10: decisions', 'M10', { allow: 3, deny: 1, needs_approval: 4, erased: 0 }],
    ['M11: why they were denied', 'M11', { policy_deny: 1 }],
    ['M12: each says why', 'M12', { numerator: 8, denominator: 8 }],
    ['M13: an agent that was registered later', 'M13', { callers: 1, decisions: 3, allows: 2 }],
    // One of them was taken back before it was used.
    ['M16: two people approved two requests', 'M16', { numerator: 2, denominator: 2 }],
    ['M18: nobody refused', 'M18', { numerator: 0, denominator: 2 }],
    ['M19: one ran out', 'M19', { pending: 0, expired: 1 }],
    ['M21: the approvers', 'M21', { approvers: 2, max_per_hour: 2 }],
    ['M22: they are named by their keys', 'M22', { count: 0, unnamed: 0, asserted: 0 }],
    ['M23: no allow without an approval', 'M23', 0],
    ['M24: people stepped in', 'M24', { suspensions: 1, removals: 1, permissions_revoked: 1 }],
    ['M25: stops held', 'M25', { allows_after_stop: 0 }],
    ['M37: rules came before their previews', 'M37', { numerator: 2, denominator: 2 }],
    ['M38: no author approved', 'M38', 0],
    ['M39: nothing is left', 'M39', { policies: 0, deny_rules: 0, approval_rules: 0 }],
    ['M40: what was spent was capped', 'M40', { numerator: 1, denominator: 1 }],
    ['M41: and fitted', 'M41', { agent_hours: 0, agent_days: 0, agent_months: 0 }],
    ['M26: one agent of two was removed', 'M26', { active: 1, registered: 2, removed: 1 }],
    ['M27: a person owns the other', 'M27', 0],
    // The first was rotated without overlap, the second revoked, the third ended with its issuer.
    ['M29: of credentials', 'M29', { alive: 0, issued: 3, revoked: 2, expired: 1 }],
    ['M32: no credential outlives its agent', 'M32', { orphaned: 0 }],
    ['M33: agents are registered first', 'M33', 0],
    ['M34: grants', 'M34', { grants: 0 }],
    // Settings, webhooks, sinks, keys, tools and the login provider are changes too; the first key is none.
    ['M35: by author', 'M35', { by_actor: { 'ada@example.org': 44, 'system remit': 5 } }],
    ['M36: the operator gave no name', 'M36', 5],
    ['M43: trust', 'M43', { allow: 1, deny: 0, rules: 0 }],
    ['M44: exchanges', 'M44', { issuers: 0, untrusted: 0, unlimited: 0 }],
    ['M45: the guard', 'M45', { checks: 1, by_verdict: { redact: 1 } }],
    ['M46: a flag that names nothing', 'M46', { flagged: 1, followed: 0, unlinked: 1 }],
    ['M47: runs', 'M47', { runs: 1, by_scorer: { exact_match: { runs: 1, items: 1, scored: 1 } } }],
    ['M48: what failed', 'M48', { exact_match: { share: { numerator: 0, denominator: 1 } } }],
    ['M09: verifications', 'M09', { sound: 1 }],
    ['M50: what callers wrote', 'M50', { numerator: 2 }],
  ])('%s', (_, id, value) => {
    const metric = report.content.metrics.find((one) => one.id === id)
    // Values can be numbers, which match only as such.
    expect({ value: metric?.value }).toMatchObject({ value })
  })

  it('whose findings lead to entries that are there', () => {
    const seqs = new Set(life.entries.map(({ seq }) => seq))
    const led = report.content.findings.flatMap((finding) => finding.seqs)

    expect(led.length).toBeGreaterThan(0)
    expect(led.filter((seq) => !seqs.has(seq))).toEqual([])
  })
})
