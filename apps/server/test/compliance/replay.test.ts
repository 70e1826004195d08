import { setPlan } from '@remit/core/orgs'
import { createClock, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise, OWNERS, register } from '../identity/support.ts'
import { ask, bend, erase, flipsOf, NO_FLIPS, refusedReplay, replay } from './replay-support.ts'

const PAY = { agent_id: 'payer', action: 'payments.transfer', context: { amount: 60 } }
const MAIL = { agent_id: 'payer', action: 'mail.send' }

describe.skipIf(!hasModules()).each(someDialects())('a replay on %s', (dialect) => {
  let all: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock()
    all = await createEnterprise({ dialect, clock })
  })
  afterAll(() => all.remit.close())

  const anew = async () => all.as(await all.remit.organization())
  const rule = async (api: Api, body: object) => (await api.ok('createPolicy', { body })).id

  /** Decisions of every kind; their numbers by what they are. */
  async function history(api: Api) {
    const pay = await rule(api, { effect: 'deny', actions: ['payments.*'] })
    await rule(api, { effect: 'allow', actions: ['docs.*'] })
    await api.ok('setApprovalRule', { params: { id: 'all-mail' }, body: { actions: ['mail.*'] } })
    await api.ok('setSpendLimit', { params: { id: 'spender' }, body: { daily_usd: 1 } })
    await api.ok('grantPermission', {
      params: { id: 'no' },
      body: { agent_id: 'denied', effect: 'deny' },
    })
    const allowed = await ask(api, { agent_id: 'payer', action: 'docs.read' })
    const byDefault = await ask(api, { agent_id: 'payer', action: 'other' })
    const denied = await ask(api, PAY)
    const waiting = await ask(api, MAIL)
    const { data } = await api.ok('listApprovals', {})
    const params = { requestID: data[0]?.id ?? '' }
    await api.ok('decideApproval', { params, body: { decision: 'approve' } })
    const approved = await ask(api, MAIL)
    const again = { ...MAIL, agent_id: 'other' }
    const asked = await ask(api, again)
    const { data: open } = await api.ok('listApprovals', { query: { status: 'pending' } })
    const second = { requestID: open[0]?.id ?? '' }
    await api.ok('decideApproval', { params: second, body: { decision: 'reject' } })
    const rejected = await ask(api, again)
    const spent = await ask(api, { agent_id: 'spender', action: 'x', context: { amount: 2 } })
    const forbidden = await ask(api, { agent_id: 'denied', action: 'docs.read' })
    const two = { rejected, asked, spent, forbidden }
    return { pay, allowed, byDefault, denied, waiting, approved, ...two }
  }

  it('of the rules that decided finds that every decision stays as it was', async () => {
    const api = await anew()
    await history(api)

    const answer = await replay(api)

    expect(answer).toMatchObject({
      decisions: 9,
      unchanged: { judged: 6, denied_elsewhere: 3, not_in_plan: 0 },
      flipped: NO_FLIPS,
      not_replayable: {
        erased: 0,
        policies_failed: 0,
        agent_unknown: 0,
        reason_unknown: 0,
        malformed: 0,
      },
      rules: [],
      flips: [],
      flips_omitted: 0,
      judged_by: { policies: 2, approval_rules: 1, default_effect: 'allow' },
      next_cursor: null,
    })
  })

  it('names each decision that rules would turn, how, and by which rule', async () => {
    const api = await anew()
    const seq = await history(api)
    const add = [
      { effect: 'deny', agents: ['payer'], actions: ['docs.*', 'mail.*'] },
      { effect: 'deny', agents: ['other', 'spender', 'denied'] },
    ]

    const answer = await replay(api, { overlay: { add, remove: [seq.pay] } })

    expect(flipsOf(answer)).toEqual([
      `${seq.allowed}: allow → deny by overlay.0`,
      `${seq.denied}: deny → allow by ${seq.pay}`,
      `${seq.waiting}: needs_approval → deny by overlay.0`,
      `${seq.approved}: allow → deny by overlay.0`,
      `${seq.asked}: needs_approval → deny by overlay.1`,
    ])
    expect(answer.flipped).toEqual({
      ...NO_FLIPS,
      allow_to_deny: 2,
      needs_approval_to_deny: 2,
      deny_to_allow: 1,
    })
    expect(answer.rules).toEqual([
      { policy: 'overlay.0', ...NO_FLIPS, allow_to_deny: 2, needs_approval_to_deny: 1 },
      { policy: 'overlay.1', ...NO_FLIPS, needs_approval_to_deny: 1 },
      { policy: seq.pay, ...NO_FLIPS, deny_to_allow: 1 },
    ])
    expect(answer.flips[1]).toEqual({
      seq: seq.denied,
      decision_id: expect.stringMatching(/^dec_/),
      decided_at: '2026-11-20T08:00:00.000Z',
      agent_id: 'payer',
      action: 'payments.transfer',
      resource: null,
      kind: 'deny_to_allow',
      cause: seq.pay,
      was: { decision: 'deny', reason: 'policy_deny', policy: seq.pay },
      would_be: { decision: 'allow', reason: 'default_allow', policy: null },
    })
  })

  it('takes denials of other stages as they are, and never asks about spend again', async () => {
    const api = await anew()
    const { spent, forbidden, rejected } = await history(api)
    await api.call('removeSpendLimit', { params: { id: 'spender' } })

    const { flips, unchanged } = await replay(api, { overlay: { add: [{ effect: 'allow' }] } })

    expect(unchanged.denied_elsewhere).toBe(3)
    for (const seq of [spent, forbidden, rejected])
      expect(flips.map((flip) => flip.seq)).not.toContain(seq)
  })

  it('asks the current approval rules about what the policies would let through', async () => {
    const api = await anew()
    const { pay, denied } = await history(api)
    const overlay = { remove: [pay] }
    const body = { actions: ['payments.*'], condition: 'context.amount > 50.0' }
    await api.ok('setApprovalRule', { params: { id: 'large' }, body })

    const answer = await replay(api, { overlay })

    expect(flipsOf(answer)).toEqual([`${denied}: deny → needs_approval by ${pay}`])
    expect(answer.flips[0]?.would_be.reason).toBe('approval_required')
    expect(answer.notes.join(' ')).toContain('current approval rules')
  })

  it('computes the amount of decisions that were recorded before a rule read it', async () => {
    const api = await anew()
    const { allowed, byDefault } = await history(api)
    const small = await ask(api, { ...PAY, action: 'pay', context: { amount: 5 } })
    const large = await ask(api, { ...PAY, action: 'pay', context: { amount_usd: 60 } })
    const overlay = {
      add: [{ effect: 'deny', actions: ['pay', 'other'], condition: 'amount_usd > 50' }],
    }

    const flips = flipsOf(await replay(api, { overlay }))

    for (const seq of [byDefault, large])
      expect(flips).toContain(`${seq}: allow → deny by overlay.0`)
    for (const seq of [allowed, small]) expect(flips.join()).not.toContain(`${seq}: `)
  })

  it('cannot read the places that were replaced either', async () => {
    const api = await anew()
    const context = { args: { amount: 5, rows: { length: 3, sha256: 'aa' } } }
    const replaced = ['/args/rows']
    const seq = await ask(api, { ...PAY, action: 'pay', context, replaced })
    const passed = await ask(api, { ...PAY, action: 'pay', context })
    const overlay = {
      add: [{ effect: 'deny', actions: ['pay'], condition: 'has(context.args.rows.more)' }],
    }

    const flips = flipsOf(await replay(api, { overlay }))

    expect(flips).toContain(`${seq}: allow → deny by overlay.0`)
    expect(flips.join()).not.toContain(`${passed}: `)
  })

  it('tries another default effect', async () => {
    const api = await anew()
    const { byDefault, allowed } = await history(api)

    const answer = await replay(api, { overlay: { default_effect: 'deny' } })

    expect(answer.judged_by.default_effect).toBe('deny')
    expect(flipsOf(answer)).toContain(`${byDefault}: allow → deny by default`)
    expect(answer.flips.map(({ seq }) => seq)).not.toContain(allowed)
    expect(answer.rules).toEqual([
      { policy: null, ...NO_FLIPS, allow_to_deny: 2, needs_approval_to_deny: 2 },
    ])
  })

  it('judges at the time of the decision, not of now', async () => {
    const api = await anew()
    const before = await ask(api, MAIL)
    clock.advance(60_000)
    const after = await ask(api, MAIL)
    const not_before = new Date(clock.now()).toISOString()

    const answer = await replay(api, { overlay: { add: [{ effect: 'deny', not_before }] } })
    const byClock = `now < timestamp("${not_before}")`
    const other = await replay(api, { overlay: { add: [{ effect: 'deny', condition: byClock }] } })

    expect(flipsOf(answer)).toEqual([`${after}: allow → deny by overlay.0`])
    expect(flipsOf(other)).toEqual([`${before}: allow → deny by overlay.0`])
  })

  it('looks at the decisions of its period only', async () => {
    const api = await anew()
    const seqs: number[] = []
    const times: string[] = []
    for (let i = 0; i < 3; i++) {
      clock.advance(1_000)
      times.push(new Date(clock.now()).toISOString())
      seqs.push(await ask(api, MAIL))
    }
    const [from, to] = [times[1], times[2]]

    expect(await replay(api, { from, to })).toMatchObject({
      decisions: 1,
      first_seq: seqs[1],
      last_seq: seqs[1],
    })
    expect(await replay(api, { from: '2029-01-01T00:00:00.000Z' })).toMatchObject({
      decisions: 0,
      first_seq: null,
    })
  })

  it('goes on where it ended, and its parts together are the whole', async () => {
    const api = await anew()
    await history(api)
    const overlay = { add: [{ effect: 'deny' }] }
    const whole = await replay(api, { overlay })
    const parts = [await replay(api, { overlay, max_decisions: 2 })]
    for (let cursor = parts[0]?.next_cursor; cursor; cursor = parts.at(-1)?.next_cursor)
      parts.push(await replay(api, { overlay, max_decisions: 2, cursor }))

    expect(parts.length).toBeGreaterThan(4)
    expect(parts.every(({ decisions }) => decisions <= 2)).toBe(true)
    expect(parts.reduce((sum, { decisions }) => sum + decisions, 0)).toBe(whole.decisions)
    expect(parts.flatMap(({ flips }) => flips)).toEqual(whole.flips)
    const next = { overlay, cursor: parts[0]?.next_cursor }
    for (const other of [
      { ...next, overlay: {} },
      { ...next, to: '2029-01-01T00:00:00.000Z' },
      { overlay, cursor: '1' },
    ])
      expect((await refusedReplay(api, other)).errors?.[0]?.path).toBe('cursor')
    const id = await rule(api, { effect: 'deny', actions: ['new'] })
    expect((await refusedReplay(api, next)).code).toBe('rules_changed')
    // A replacement keeps the id.
    const first = await replay(api, { overlay, max_decisions: 2 })
    await api.ok('replacePolicy', {
      params: { policyID: id },
      headers: { 'If-Match': '*' },
      body: { effect: 'deny', actions: ['newer'] },
    })
    const continued = { overlay, cursor: first.next_cursor }
    expect((await refusedReplay(api, continued)).code).toBe('rules_changed')
  })

  it('lists so many flips, and counts all of them', async () => {
    const api = await anew()
    await history(api)

    const answer = await replay(api, { overlay: { add: [{ effect: 'deny' }] }, limit: 1 })

    expect(answer.flips).toHaveLength(1)
    expect(answer.flips_omitted).toBe(4)
    expect(answer.flipped).toMatchObject({ allow_to_deny: 3, needs_approval_to_deny: 2 })
  })

  it('counts what was erased, or is not as it was written, and says nothing of it', async () => {
    const api = await anew()
    const [erased, bent] = [await ask(api, MAIL), await ask(api, MAIL)]
    const left = await ask(api, MAIL)
    await erase(api, erased)
    await bend(api, bent)

    const answer = await replay(api, { overlay: { add: [{ effect: 'deny' }] } })

    expect(answer.not_replayable).toMatchObject({ erased: 1, malformed: 1 })
    expect(answer.flips.map(({ seq }) => seq)).toEqual([left])
  })

  it('leaves decisions alone that were made on a plan without policies', async () => {
    const api = await anew()
    await setPlan(api.remit.writer, api.org.id, 'team')
    await ask(api, MAIL)

    const { unchanged, flips } = await replay(api, { overlay: { add: [{ effect: 'deny' }] } })

    expect(unchanged.not_in_plan).toBe(1)
    expect(flips).toEqual([])
  })

  it('reads agents as they were', async () => {
    const api = await anew()
    const unregistered = await ask(api, { agent_id: 'guest', action: 'a' })
    const { ledger } = await register(api, 'payer', { environment: 'test' })
    const asTest = await ask(api, MAIL)
    const params = { agentID: 'payer' }
    await api.ok('changeAgent', { params, body: { environment: 'prod', owners: OWNERS } })
    const asProd = await ask(api, MAIL)
    await api.call('removeAgent', { params })
    const condition = 'has(agent.environment) && agent.environment == "test"'
    const overlay = { add: [{ effect: 'deny', condition }] }

    expect(flipsOf(await replay(api, { overlay }))).toEqual([
      `${asTest}: allow → deny by overlay.0`,
    ])
    await erase(api, ledger?.seq ?? -1)
    const answer = await replay(api, { overlay })
    // The agent of the registration is not known any more.
    expect(answer.not_replayable.agent_unknown).toBe(1)
    expect(answer.decisions).toBe(3)
    expect(answer.flips).toEqual([])
    expect([unregistered, asProd]).toHaveLength(2)
  })

  it('leaves an entry that says what was tried and what came of it', async () => {
    const api = await anew()
    await history(api)
    const overlay = { add: [{ effect: 'deny' }] }

    await replay(api, { overlay })
    const { data } = await api.ok('listEntries', { query: { limit: 1 } })

    expect(data[0]).toMatchObject({
      kind: 'policy.dry_run',
      agent_id: null,
      decision: null,
      data: {
        method: 'replay',
        from: '2020-01-01T00:00:00.000Z',
        decisions: 9,
        flipped: { allow_to_deny: 3 },
        overlay: { added: 1, rules: [expect.stringMatching(/^[0-9a-f]{64}$/)] },
      },
    })
  })

  it('counts what approval rules of the overlay would ask about, and what they would not', async () => {
    const api = await anew()
    const seq = await history(api)
    const overlay = {
      approval_rules: { set: [{ id: 'docs', actions: ['docs.*'] }], remove: ['all-mail'] },
      spend_limits: { set: [{ agent_id: 'payer', daily_usd: 0 }] },
    }

    const answer = await replay(api, { overlay })

    expect(flipsOf(answer)).toEqual([
      `${seq.allowed}: allow → needs_approval by docs`,
      `${seq.waiting}: needs_approval → allow by all-mail`,
      `${seq.asked}: needs_approval → allow by all-mail`,
    ])
    expect(answer.rules).toEqual([
      { policy: null, approval_rule: 'all-mail', ...NO_FLIPS, needs_approval_to_allow: 2 },
      { policy: null, approval_rule: 'docs', ...NO_FLIPS, allow_to_needs_approval: 1 },
    ])
    expect(answer.judged_by.approval_rules).toBe(1)
    expect(answer.notes.at(-1)).toBe('Not replayed: spend_limits.')
    expect((await replay(api)).notes.join(' ')).not.toContain('Not replayed')
  })

  it('of a plan does not take limits, which the plan says', async () => {
    const api = await anew()
    await ask(api, PAY)
    const period = { from: '2020-01-01T00:00:00Z', to: '2030-01-01T00:00:00Z' }
    const of = { apiVersion: 'remit.dev/v1', name: 'payer' } as const
    const deny = { ...of, kind: 'Policy' as const, spec: { effect: 'deny' as const } }
    const limit = { ...of, kind: 'SpendLimit' as const, spec: { agent_id: 'payer', daily_usd: 0 } }
    const plan = (documents: (typeof deny | typeof limit)[]) =>
      api.ok('planPolicySet', { params: { id: 'main' }, body: { documents, replay: period } })
    const flipped = { ...NO_FLIPS, allow_to_deny: 1 }
    expect(await plan([deny])).toMatchObject({ warnings: [], replay: { flipped } })
    expect(await plan([limit])).toMatchObject({
      warnings: ['spend limits, budgets, permissions, modes and trust policies are not replayed'],
      replay: { decisions: 1, flipped: NO_FLIPS },
    })
  })

  it('computes in a thread of its own, so that nobody waits for it', async () => {
    const api = await anew()
    const context = { items: Array.from({ length: 300 }, (_, i) => i) }
    for (let i = 0; i < 60; i++) await ask(api, { ...MAIL, context })
    const condition = 'context.items.exists(item, item == -1.0 || item == -2.0)'
    const add = Array.from({ length: 20 }, () => ({ effect: 'deny', condition }))
    await replay(api, { overlay: { add } })
    const shares: number[] = []
    // Other work of the process counts too, so that the least of some counts.
    for (let i = 0; i < 3; i++) {
      const before = { all: process.cpuUsage(), here: process.threadCpuUsage() }
      await replay(api, { overlay: { add } })
      const { user, system } = process.cpuUsage(before.all)
      const here = process.threadCpuUsage(before.here)
      shares.push((here.user + here.system) / (user + system))
    }
    expect(Math.min(...shares)).toBeLessThan(0.5)
  })

  it('is refused with the path of its fault', async () => {
    const api = await anew()
    const faults: [object, string][] = [
      [{ to: '2020-01-01T00:00:00.000Z' }, 'to'],
      [{ from: 'yesterday' }, 'from'],
      [{ limit: 1_001 }, 'limit'],
      [{ max_decisions: 0 }, 'max_decisions'],
      [{ max_decisions: 100_001 }, 'max_decisions'],
      [
        { overlay: { add: [{ effect: 'deny', condition: 'contxt.a' }] } },
        'overlay.add.0.condition',
      ],
      [{ overlay: { remove: ['pol_unknown'] } }, 'overlay.remove.0'],
      [{ cursor: '0.1.0123456789abcdef.0123456789abcdef' }, 'cursor'],
      [{ period: 1 }, 'period'],
    ]
    for (const [body, path] of faults) {
      const { code, errors } = await refusedReplay(api, body)
      expect([code, errors?.[0]?.path]).toEqual(['invalid_request', path])
    }
  })
})
