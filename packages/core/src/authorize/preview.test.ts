import { setTimeout } from 'node:timers/promises'
import type { AuthorizeRequest } from '@remit/contract'
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { fail } from '../base/errors.ts'
import { lockHead } from '../ledger/store/store.ts'
import { defineModule } from '../module/module.ts'
import { OPERATOR } from '../orgs/administration.ts'
import { SYSTEM } from '../caller/caller.ts'
import { createClock, createTestRemit, handMade, someDialects } from '@remit/testing'
import type { TestClock, TestRemit } from '@remit/testing'
import type { PreviewOptions } from './preview.ts'
import type { Ask, Overlay, Slot, Stage } from './stage.ts'

let remit: TestRemit
let clock: TestClock
afterEach(() => remit.close())

const passing = {
  unavailable: { reason: 'stage_unavailable', message: 'cannot answer' },
  load: () => Promise.resolve(null),
  prepare: () => Promise.resolve(null),
  decide: () => ({ verdict: 'pass' }),
} as const satisfies Stage

const REQUEST: AuthorizeRequest = { agent_id: 'a', action: 'b.c', resource: 'doc:1' }
const change = (orgId: string) =>
  remit.writer.change(orgId, OPERATOR, () =>
    Promise.resolve({
      entries: [handMade({ kind: 'thing.changed', actor: SYSTEM, data: {} })],
      reply: () => undefined,
    }),
  )
const broken = () => Promise.reject(new Error('relation does not exist'))

describe.each(someDialects())('a preview on %s', (dialect) => {
  async function start(stages: Partial<Record<Slot, Stage>>) {
    clock = createClock()
    const module = defineModule({ name: 'hand_made', setup: () => ({ stages }) })
    remit = await createTestRemit({ dialect, clock, modules: [module] })
    const { id } = await remit.organization()
    return {
      id,
      preview: async (options?: PreviewOptions, request = REQUEST) => {
        const [one] = await remit.decider.preview(id, 'enterprise', [request], options)
        if (!one) throw new Error('no preview')
        return one
      },
    }
  }

  it('prepares one transaction at a time, so that decisions do not wait for several', async () => {
    let running = 0
    let most = 0
    const { preview } = await start({
      policy: {
        ...passing,
        prepare: async () => {
          most = Math.max(most, ++running)
          await setTimeout(10)
          running--
          return null
        },
      },
    })

    await Promise.all(Array.from({ length: 8 }, () => preview()))

    expect(most).toBe(1)
  })

  it('is the decision with what each stage said, up to the one that answered', async () => {
    const { preview } = await start({
      agent_deny: passing,
      spend_limit: {
        ...passing,
        decide: () => ({
          verdict: 'pass',
          effect: 'hold',
          notes: { matched: [{ kind: 'spend_limit', id: 'a' }], warnings: ['mind'] },
        }),
      },
      policy: {
        ...passing,
        decide: () => ({ verdict: 'deny', reason: 'policy_deny', message: 'No.' }),
      },
      approval_rule: passing,
    })

    expect(await preview()).toEqual({
      decision: 'deny',
      reason: 'policy_deny',
      message: 'No.',
      matched: [{ kind: 'spend_limit', id: 'a' }],
      trace: [
        { stage: 'agent_deny', verdict: 'pass' },
        { stage: 'spend_limit', verdict: 'pass', matched: [{ kind: 'spend_limit', id: 'a' }] },
        { stage: 'policy', verdict: 'deny', reason: 'policy_deny', message: 'No.' },
      ],
      warnings: ['mind'],
    })
  })

  it('is made again when PostgreSQL asks to repeat the transaction', async () => {
    let waiting = true
    const { preview } = await start({
      policy: {
        ...passing,
        prepare: () => {
          if (!waiting) return Promise.resolve(null)
          waiting = false
          return Promise.reject(Object.assign(new Error('try again'), { code: '40001' }))
        },
      },
    })

    expect((await preview()).decision).toBe('allow')
  })

  it('decides each request as if it were alone, and records nothing of any', async () => {
    const effects: string[] = []
    const once: Stage = {
      ...passing,
      prepare: () => Promise.resolve({ taken: false }),
      decide: (_ask, state) =>
        (state as { taken: boolean }).taken
          ? { verdict: 'deny', reason: 'default_deny', message: 'taken' }
          : { verdict: 'pass', effect: 'take' },
      apply: () => void effects.push('apply'),
      record: () => Promise.resolve(void effects.push('record')),
    }
    const { id } = await start({ policy: once })
    const before = await remit.ledger.head(id)

    const shown = await remit.decider.preview(id, 'enterprise', [REQUEST, REQUEST, REQUEST])

    expect(shown.map(({ decision }) => decision)).toEqual(['allow', 'allow', 'allow'])
    expect(effects).toEqual([])
    expect(await remit.ledger.head(id)).toEqual(before)
  })

  it('undoes what a stage writes while it prepares, and shows it to that stage', async () => {
    const { preview } = await start({
      spend_limit: {
        ...passing,
        async prepare(_asks, _snapshot, { tx }) {
          await sql`update organization set name = 'changed'`.execute(tx)
          const { rows } = await sql<{ name: string }>`select name from organization`.execute(tx)
          return rows[0]?.name
        },
        decide: (_ask, name) => ({
          verdict: 'deny',
          reason: 'default_deny',
          message: String(name),
        }),
      },
    })

    expect((await preview()).message).toBe('changed')
    const names = await remit.db.selectFrom('organization').select('name').execute()
    expect(names).toEqual([{ name: expect.stringMatching(/^org 1 /) }])
  })

  it('denies as a live decision would where a stage cannot answer', async () => {
    const { preview } = await start({ agent_deny: passing, policy: { ...passing, load: broken } })

    expect(await preview()).toMatchObject({
      decision: 'deny',
      reason: 'stage_unavailable',
      message: 'cannot answer',
      trace: [{ verdict: 'pass' }, { stage: 'policy', verdict: 'deny' }],
    })
  })

  it('does not leave a stage that failed out of later decisions', async () => {
    let works = false
    const load = () => (works ? Promise.resolve(null) : broken())
    const { preview } = await start({ policy: { ...passing, load } })
    await preview()

    works = true

    expect((await preview()).decision).toBe('allow')
  })

  it('hands the stages who asks, for which plan, and when', async () => {
    const asked: Ask[] = []
    const { id, preview } = await start({
      policy: { ...passing, decide: (ask) => (asked.push(ask), { verdict: 'pass' }) },
    })
    const at = Date.parse('2030-01-02T03:04:05.678Z')

    await preview({ at })
    await preview()
    clock.advance(-60_000)
    await preview()

    expect(asked[0]).toMatchObject({
      orgId: id,
      plan: 'enterprise',
      caller: null,
      claims: {},
      resource: 'doc:1',
    })
    // Never before the last entry, as in a live decision.
    const created = Date.parse('2026-11-20T08:00:00.000Z')
    expect(asked.map(({ now }) => now)).toEqual([at, created, created])
  })

  it('leaves out, and names, what the plan leaves out', async () => {
    const { id } = await start({ policy: { ...passing, leftOut: () => 'not evaluated' } })

    const [one] = await remit.decider.preview(id, 'team', [REQUEST])

    expect(one).toMatchObject({ decision: 'allow', trace: [], warnings: ['not evaluated'] })
  })

  it('asks outside once it knows the rules, each time anew', async () => {
    const gathered: unknown[] = []
    const { preview } = await start({
      spend_limit: {
        ...passing,
        load: () => Promise.resolve('rules'),
        gather: (_asks, snapshot) => Promise.resolve(gathered.push(snapshot)),
        prepare: (_asks, _snapshot, _tx, outside) => Promise.resolve(outside),
        decide: (_ask, outside) => ({
          verdict: 'deny',
          reason: 'default_deny',
          message: String(outside),
        }),
      },
    })

    expect([(await preview()).message, (await preview()).message]).toEqual(['1', '2'])
    expect(gathered).toEqual(['rules', 'rules'])
  })

  it('computes a few milliseconds at a time, and no two previews between the turns of others', async () => {
    let turns = 0
    const decidedAt: number[] = []
    const slow: Stage = {
      ...passing,
      decide: () => {
        decidedAt.push(turns)
        for (const end = performance.now() + 6; performance.now() < end;);
        return { verdict: 'pass' }
      },
    }
    const { id } = await start({ policy: slow })
    const ids = [id, (await remit.organization()).id]
    const count = () => {
      turns++
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    const requests = [REQUEST, REQUEST, REQUEST]
    await Promise.all(
      [...ids, ...ids].map((org) => remit.decider.preview(org, 'enterprise', requests)),
    )
    clearImmediate(immediate)

    expect(decidedAt).toHaveLength(12)
    expect(new Set(decidedAt).size).toBe(12)
  })

  describe('with an overlay', () => {
    const overlay: Overlay = { add: ['new'], remove: ['old'] }
    const laid: Stage<readonly string[], never, readonly string[]> = {
      ...passing,
      load: () => Promise.resolve(['old', 'kept']),
      overlay: (rules, { add, remove }) => [
        ...rules.filter((rule) => !remove.includes(rule)),
        ...(add as string[]),
      ],
      prepare: (_asks, rules) => Promise.resolve(rules),
      decide: (_ask, rules) => ({
        verdict: 'deny',
        reason: 'default_deny',
        message: rules.join(' '),
      }),
    }

    it('tries rules, and keeps none of them', async () => {
      const { preview } = await start({ agent_deny: passing, policy: laid })

      expect((await preview({ overlay })).message).toBe('kept new')
      expect((await preview()).message).toBe('old kept')
    })

    it('is refused where a stage refuses it, and no denial', async () => {
      const refusing = () => {
        throw fail('invalid_request', 'overlay.add.0.condition: does not compile')
      }
      const { preview } = await start({ policy: { ...laid, overlay: refusing } })

      await expect(preview({ overlay })).rejects.toMatchObject({ code: 'invalid_request' })
    })
  })

  it('is refused for an organization that is not there', async () => {
    await start({})

    await expect(
      remit.decider.preview('org_unknown', 'enterprise', [REQUEST]),
    ).rejects.toMatchObject({ code: 'ledger_unavailable' })
  })

  it('decides many requests by the same rules and at one time, whatever changes meanwhile', async () => {
    let changed: Promise<unknown> = Promise.resolve()
    let decided = 0
    let loaded = 0
    const { id } = await start({
      policy: {
        ...passing,
        load: () => Promise.resolve(++loaded),
        // The rules change before the second part is prepared.
        gather: () => changed,
        prepare: (_asks, version) => Promise.resolve(version),
        decide: (ask, version) => {
          if (++decided === 1) changed = change(id)
          clock.advance(1)
          return {
            verdict: 'deny',
            reason: 'default_deny',
            message: `${String(version)} ${ask.now}`,
          }
        },
      },
    })
    const many = Array.from({ length: 450 }, () => REQUEST)

    const shown = await remit.decider.preview(id, 'enterprise', many)
    await changed

    expect(shown).toHaveLength(450)
    expect(new Set(shown.map(({ message }) => message)).size).toBe(1)
    expect(decided).toBeGreaterThan(450)
  })

  it('of no requests is empty', async () => {
    const { id } = await start({})

    expect(await remit.decider.preview(id, 'enterprise', [])).toEqual([])
  })

  it('follows a change at once', async () => {
    let rules = 'old'
    const { id, preview } = await start({
      policy: {
        ...passing,
        load: () => Promise.resolve(rules),
        prepare: (_asks, snapshot) => Promise.resolve(snapshot),
        decide: (_ask, state) => ({
          verdict: 'deny',
          reason: 'default_deny',
          message: String(state),
        }),
      },
    })
    await preview()
    rules = 'new'
    await change(id)

    expect((await preview()).message).toBe('new')
  })

  it.runIf(dialect === 'postgres')('waits for no decision that is being made', async () => {
    const { id, preview } = await start({ policy: passing })

    const shown = await remit.db.transaction().execute(async (tx) => {
      await lockHead(tx, id)
      return preview()
    })

    expect(shown.decision).toBe('allow')
  })
})
