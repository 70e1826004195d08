import { hash } from 'node:crypto'
import type { Policy } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import { setPlan } from '@remit/core/orgs'
import { createClock, refusalOf, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise, issue, register } from '../identity/support.ts'
import { tablesOf } from './tables.ts'

const TRANSFER = { agent_id: 'payer', action: 'payments.transfer', context: { amount: 60 } }
const LARGE = {
  effect: 'deny',
  actions: ['payments.*'],
  condition: 'amount_usd > 50.0',
}

describe.skipIf(!hasModules()).each(someDialects())('a dry-run on %s', (dialect) => {
  let all: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock()
    all = await createEnterprise({ dialect, clock })
  })
  afterAll(() => all.remit.close())

  const anew = async () => all.as(await all.remit.organization())
  const dryRun = (api: Api, body: object, key?: string) =>
    api.ok('dryRunPolicies', { body, ...(key !== undefined && { key }) })
  const one = async (api: Api, body: object) => {
    const answer = await dryRun(api, body)
    if ('results' in answer) throw new Error('it is many')
    return answer
  }
  const newest = async (api: Api) => {
    const { data } = await api.ok('listEntries', { query: { limit: 1 } })
    const [entry] = data
    if (!entry) throw new Error('the ledger is empty')
    return entry
  }

  it('is one of few that an organization has at a time; beyond, 429, and others are not', async () => {
    const [api, other] = [await anew(), await anew()]
    const body = { requests: Array.from({ length: 50 }, () => TRANSFER) }
    const own = await Promise.all(
      Array.from({ length: 20 }, () => api.call('dryRunPolicies', { body })),
    )
    const refused = own.filter(({ status }) => status !== 200)

    expect(own.length - refused.length).toBeGreaterThanOrEqual(5)
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) expect((await refusalOf(answer)).code).toBe('jobs_busy')
    expect((await other.call('dryRunPolicies', { body })).status).toBe(200)
  })

  it('is what authorize answers, with what each stage said', async () => {
    const api = await anew()
    const { id } = await api.ok('createPolicy', { body: LARGE })

    const shown = await one(api, TRANSFER)
    const { decision, reason, message, matched } = await api.ok('authorize', { body: TRANSFER })

    expect(shown).toEqual({
      decision,
      reason,
      message,
      matched,
      trace: [
        { stage: 'agent_deny', verdict: 'pass' },
        { stage: 'spend_limit', verdict: 'pass' },
        {
          stage: 'policy',
          verdict: 'deny',
          reason,
          message,
          matched: [{ kind: 'policy', id, revision: 1 }],
        },
      ],
      warnings: [],
      at: '2026-11-20T08:00:00.000Z',
      overlay: [],
      ledger: shown.ledger,
    })
  })

  it('has the subject of the request, as authorize has', async () => {
    const api = await anew()
    const condition = 'subject.type == "user" && subject.id == "ada"'
    await api.ok('createPolicy', { body: { effect: 'deny', condition } })
    const ask = (id: string) => ({ ...TRANSFER, subject: { type: 'user', id } })

    for (const [id, decision] of Object.entries({ ada: 'deny', bob: 'allow' })) {
      expect((await one(api, ask(id))).decision).toBe(decision)
      expect((await api.ok('authorize', { body: ask(id) })).decision).toBe(decision)
    }
    const several = await dryRun(api, { requests: [ask('ada'), ask('bob'), TRANSFER] })
    expect(several).toMatchObject({
      results: [{ decision: 'deny' }, { decision: 'allow' }, { decision: 'allow' }],
    })
    const both = { requests: [TRANSFER], subject: ask('ada').subject }
    expect((await api.refusal('dryRunPolicies', { body: both })).errors?.[0]?.path).toBe('subject')
  })

  it('names the places that were replaced, of one request and of several', async () => {
    const api = await anew()
    const overlay = { add: [{ effect: 'deny', condition: 'has(context.args.memo.a)' }] }
    const context = { args: { memo: { length: 3, sha256: 'aa' } } }
    const asked = { agent_id: 'a', action: 'b', context, replaced: ['/args/memo'] }
    const denied = { reason: 'policy_error', warnings: ['context_replaced: /args/memo'] }

    expect(await api.ok('dryRunPolicies', { body: { ...asked, overlay } })).toMatchObject(denied)
    const several = { requests: [asked, { ...asked, replaced: [] }], overlay }
    expect(await api.ok('dryRunPolicies', { body: several })).toMatchObject({
      results: [denied, { decision: 'allow', warnings: [] }],
    })
    for (const body of [
      { ...asked, replaced: ['/args/none'] },
      { requests: [{ ...asked, replaced: ['/none'] }] },
      { requests: [asked], replaced: [] },
    ])
      expect(await api.refusal('dryRunPolicies', { body })).toMatchObject({ status: 400 })
  })

  it('changes nothing but that the ledger tells of it, whatever the decision would have done', async () => {
    const api = await anew()
    const limit = { daily_usd: 100, hold_ttl_seconds: 60 }
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: limit })
    await api.ok('authorize', { body: TRANSFER })
    await api.ok('setApprovalRule', { params: { id: 'mail' }, body: { actions: ['mail.*'] } })
    const mail = { agent_id: 'payer', action: 'mail.send' }
    const { approval } = await api.ok('authorize', { body: mail })
    const params = { requestID: approval?.id ?? '' }
    await api.ok('decideApproval', { params, body: { decision: 'approve' } })
    clock.advance(61_000)
    const before = await tablesOf(api.remit.db)

    const answer = await dryRun(api, {
      requests: [TRANSFER, TRANSFER, mail, mail, { ...mail, agent_id: 'other' }],
      overlay: { add: [{ effect: 'deny', agents: ['nobody'] }] },
    })

    // A hold that has ended is released by the next decision; an approval would be used once.
    expect('results' in answer && answer.results.map(({ decision }) => decision)).toEqual([
      'allow',
      'allow',
      'allow',
      'allow',
      'needs_approval',
    ])
    const after = await tablesOf(api.remit.db)
    const changed = Object.keys(after).filter(
      (name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]),
    )
    expect(changed.filter((name) => !name.startsWith('ledger_'))).toEqual([])
    const added = after['ledger_entry']?.filter((row) => !before['ledger_entry']?.includes(row))
    expect(added).toHaveLength(1)
    expect(after['ledger_entry']).toHaveLength((before['ledger_entry']?.length ?? 0) + 1)
    expect(JSON.parse(added?.[0] ?? '')).toMatchObject({
      kind: 'policy.dry_run',
      agent_id: null,
      action: null,
      decision: null,
    })
  })

  it('leaves one entry that says who tried what, and how it came out', async () => {
    const api = await anew()
    const { id } = await api.ok('createPolicy', { body: { effect: 'deny', actions: ['a.*'] } })
    const overlay = { add: [LARGE, { effect: 'allow' }], remove: [id], default_effect: 'deny' }
    const requests = [TRANSFER, { agent_id: 'a', action: 'b' }]

    await dryRun(api, { requests, overlay })
    const entry = await newest(api)
    const created = await api.ok('createPolicy', { body: { ...LARGE, description: 'Too much.' } })
    const { policy: rule } = (await newest(api)).data as { policy: Policy }

    expect(entry).toMatchObject({
      kind: 'policy.dry_run',
      actor: { type: 'key' },
      agent_id: null,
      action: null,
      resource: null,
      decision: null,
      reason: null,
      data: {
        method: 'dry_run',
        requests: 2,
        plan: 'enterprise',
        outcomes: { allow: 1, deny: 1, needs_approval: 0 },
        overlay: { added: 2, removed: 1, removed_ids: [id], default_effect: 'deny' },
      },
    })
    // The entry of the rule is enough to recognize that it was tried.
    const { effect, agents, actions, resources, condition, enabled, not_before, expires_at } = rule
    const does = { effect, agents, actions, resources, condition, enabled, not_before, expires_at }
    const { overlay: recorded } = entry.data as { overlay: { rules: string[] } }
    expect(rule.id).toBe(created.id)
    expect(recorded.rules[0]).toBe(hash('sha256', canonicalJson(does), 'hex'))
  })

  it('tries rules that are not there, and does without rules that are', async () => {
    const api = await anew()
    const { id } = await api.ok('createPolicy', { body: LARGE })
    const other = {
      effect: 'deny',
      agents: ['payer'],
      condition: 'has(context.n) && context.n < 3.0',
    }

    const tried = await one(api, { ...TRANSFER, overlay: { add: [other], remove: [id] } })

    expect(tried).toMatchObject({ decision: 'allow', reason: 'default_allow' })
    expect(tried.overlay).toEqual([
      {
        id: 'overlay.0',
        warnings: [expect.stringContaining('a request without context.n passes this rule')],
      },
    ])
    const add = [{ effect: 'allow', enabled: false }, { effect: 'deny' }]
    const { reason, matched } = await one(api, { ...TRANSFER, overlay: { add } })
    expect([reason, matched]).toEqual(['policy_deny', [{ kind: 'policy', id, revision: 1 }]])
    const denies = await one(api, { ...TRANSFER, overlay: { add, remove: [id] } })
    expect(denies.matched).toEqual([{ kind: 'policy', id: 'overlay.1' }])
    const nothing = { remove: [id], default_effect: 'deny' }
    expect((await one(api, { ...TRANSFER, overlay: nothing })).reason).toBe('default_deny')
  })

  it('decides as of another time', async () => {
    const api = await anew()
    const from = new Date(clock.now() + 3_600_000).toISOString()
    await api.ok('createPolicy', { body: { effect: 'deny', not_before: from } })
    const at = async (ms: number) => {
      const time = new Date(clock.now() + ms).toISOString()
      const answer = await one(api, { ...TRANSFER, at: time })
      expect(answer.at).toBe(time)
      return answer.decision
    }

    expect(await at(3_599_999)).toBe('allow')
    expect(await at(3_600_000)).toBe('deny')
    const day = 24 * 3_600_000
    for (const days of [-367, 367]) {
      const time = new Date(clock.now() + days * day).toISOString()
      const { errors } = await api.refusal('dryRunPolicies', { body: { ...TRANSFER, at: time } })
      expect(errors).toEqual([
        { path: 'at', message: 'must be within one year of the current time' },
      ])
    }
    expect(await at(-366 * day)).toBe('allow')
  })

  it('says on the team plan that policies do not count', async () => {
    const api = await anew()
    await setPlan(api.remit.writer, api.org.id, 'team')

    const answer = await one(api, { ...TRANSFER, overlay: { add: [LARGE] } })

    expect(answer).toMatchObject({ decision: 'allow', warnings: ['policies_not_in_plan'] })
  })

  it('is done once for one Idempotency-Key', async () => {
    const api = await anew()
    const headers = { 'idempotency-key': 'once' }
    const ask = () => api.call('dryRunPolicies', { body: TRANSFER, headers })

    const texts = [await (await ask()).text(), await (await ask()).text()]

    expect(texts[0]).toBe(texts[1])
    const { data } = await api.ok('listEntries', { query: { kind: 'policy.dry_run' } })
    expect(data).toHaveLength(1)
  })

  it('is for keys that read, and for no agent', async () => {
    const api = await anew()
    const key = (role: 'read' | 'approver' | 'ingest') => api.remit.key(api.org.id, role)
    await register(api, 'payer')
    const { secret } = await issue(api, 'payer')

    expect(await dryRun(api, TRANSFER, await key('read'))).toMatchObject({ decision: 'allow' })
    expect(await dryRun(api, TRANSFER, await key('approver'))).toMatchObject({ decision: 'allow' })
    const refused = async (name: string) =>
      (await api.refusal('dryRunPolicies', { body: TRANSFER, key: name })).code
    expect(await refused(await key('ingest'))).toBe('role_required')
    expect(await refused(secret)).toBe('principal_not_allowed')
  })

  describe('is refused, and leaves no entry', () => {
    const many = (count: number) => Array.from({ length: count }, () => TRANSFER)
    it.each<[string, object, string]>([
      ['nothing', {}, 'action'],
      ['no agent', { action: 'a' }, 'agent_id'],
      ['no requests', { requests: [] }, 'requests'],
      ['too many', { requests: many(1_001) }, 'requests'],
      ['both', { ...TRANSFER, requests: [TRANSFER] }, 'action'],
      ['a fault in one of many', { requests: [TRANSFER, { action: 'a' }] }, 'requests.1.agent_id'],
      ['an unknown field', { ...TRANSFER, dry_run: true }, 'dry_run'],
      ['a time without a zone', { ...TRANSFER, at: '2026-11-20T08:00:00' }, 'at'],
      ['no effect', { overlay: { add: [{}] } }, 'overlay.add.0.effect'],
      [
        'a misspelt field',
        { overlay: { add: [{ effect: 'deny', condtion: 'true' }] } },
        'overlay.add.0.condtion',
      ],
      [
        'a condition',
        { overlay: { add: [LARGE, { effect: 'deny', condition: 'contxt.a' }] } },
        'overlay.add.1.condition',
      ],
      ['an unknown id', { overlay: { remove: ['pol_unknown'] } }, 'overlay.remove.0'],
      ['an unknown default', { overlay: { default_effect: 'maybe' } }, 'overlay.default_effect'],
    ])('%s', async (_, body, path) => {
      const whole = 'overlay' in body ? { ...TRANSFER, ...body } : body
      const { size } = await all.remit.ledger.head(all.org.id)

      const { status, errors } = await all.refusal('dryRunPolicies', { body: whole })

      expect(status).toBe(400)
      expect(errors?.[0]?.path).toBe(path)
      expect((await all.remit.ledger.head(all.org.id)).size).toBe(size)
    })

    it("another organization's rule, as one that is not there", async () => {
      const api = await anew()
      const { id } = await all.ok('createPolicy', { body: { ...LARGE, agents: ['x'] } })

      const { detail } = await api.refusal('dryRunPolicies', {
        body: { ...TRANSFER, overlay: { remove: [id] } },
      })

      expect(detail).toBe('overlay.remove.0: is not a policy rule of the organization')
    })

    it('more rules for every request than there can be', async () => {
      const api = await anew()
      await api.ok('createPolicy', { body: { effect: 'allow' } })
      const add = Array.from({ length: 1_000 }, () => ({ effect: 'allow' }))

      const { code } = await api.refusal('dryRunPolicies', {
        body: { ...TRANSFER, overlay: { add } },
      })

      expect(code).toBe('too_many_broad_rules')
    })
  })
})
