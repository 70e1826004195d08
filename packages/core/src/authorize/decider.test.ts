import { authorize } from '@remit/contract'
import type { AuthorizeAnswer, Plan } from '@remit/contract'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { implement } from '../http/endpoint.ts'
import { defineModule } from '../module/module.ts'
import { OPERATOR } from '../orgs/administration.ts'
import { SYSTEM } from '../caller/caller.ts'
import { createTestRemit, handMade } from '@remit/testing'
import type { TestRemit, TestRemitOptions } from '@remit/testing'
import type { Slot, Stage } from './stage.ts'

let remit: TestRemit
afterEach(() => remit.close())

const passing = {
  unavailable: { reason: 'stage_unavailable', message: 'cannot answer' },
  load: () => Promise.resolve(null),
  prepare: () => Promise.resolve(null),
  decide: () => ({ verdict: 'pass' }),
} as const satisfies Stage

/** The decision point over hand-made stages, and one organization that asks it. */
async function start(
  stages: Partial<Record<Slot, Stage>>,
  plan: Plan = 'enterprise',
  options: TestRemitOptions = {},
) {
  const module = defineModule({
    name: 'hand_made',
    setup: ({ decider }) => ({
      stages,
      routes: implement(authorize, {
        authorize: ({ body }, _, request) => decider.authorize(body, request),
      }),
    }),
  })
  remit = await createTestRemit({ modules: [module], ...options })
  const { id, key } = await remit.organization(plan)
  const call = (agent_id = 'a', context = {}) =>
    remit.call('POST', '/v1/authorize', { key, body: { agent_id, action: 'b.c', context } })
  return {
    id,
    call,
    ask: async (agent_id?: string, context?: object) => {
      const response = await call(agent_id, context)
      expect(response.status).toBe(200)
      return (await response.json()) as AuthorizeAnswer
    },
    entry: (seq: number) => remit.ledger.entry(id, seq),
    size: async () => (await remit.ledger.head(id)).size,
    change: () =>
      remit.writer.change(id, OPERATOR, () =>
        Promise.resolve({
          entries: [handMade({ kind: 'thing.changed', actor: SYSTEM, data: {} })],
          reply: () => undefined,
        }),
      ),
  }
}

const broken = () => Promise.reject(new Error('relation does not exist'))

describe('a stage that cannot answer', () => {
  it('denies when it breaks over a request, and the log says why', async () => {
    let log = ''
    const stream = { write: (line: string) => void (log += line) }
    const breaks: Stage = {
      ...passing,
      decide: () => {
        throw new Error('no such column')
      },
    }
    const { ask } = await start({ policy: breaks }, 'enterprise', { log: pino({}, stream) })

    expect(await ask()).toMatchObject({ decision: 'deny', reason: 'stage_unavailable' })
    expect(log).toContain('no such column')
    expect(log).toContain('"slot":"policy"')
  })

  it.each([
    ['load', { load: broken }],
    ['prepare', { prepare: broken }],
    ['gather', { gather: broken }],
    [
      'load, at once',
      {
        load: () => {
          throw new Error('broken')
        },
      },
    ],
    [
      'prepare, at once',
      {
        prepare: () => {
          throw new Error('broken')
        },
      },
    ],
    [
      'gather, at once',
      {
        gather: () => {
          throw new Error('broken')
        },
      },
    ],
    [
      'decide',
      {
        decide: () => {
          throw new Error('broken')
        },
      },
    ],
  ] as [string, Partial<Stage>][])(
    'denies with its entry when it fails to %s',
    async (_, faults) => {
      const { ask, entry } = await start({
        spend_limit: { ...passing, ...faults },
        policy: passing,
      })

      const answer = await ask()

      expect(answer).toMatchObject({
        decision: 'deny',
        reason: 'stage_unavailable',
        message: 'cannot answer',
      })
      expect(await entry(answer.ledger.seq)).toMatchObject({
        decision: 'deny',
        reason: 'stage_unavailable',
      })
    },
  )

  it('does not keep the stages before it from answering', async () => {
    const suspended: Stage = {
      ...passing,
      decide: () => ({ verdict: 'deny', reason: 'agent_suspended', message: 'no' }),
    }
    const { ask } = await start({
      agent_deny: suspended,
      spend_limit: { ...passing, load: broken },
    })

    expect(await ask()).toMatchObject({ reason: 'agent_suspended' })
  })

  it('answers again as soon as it can, without a restart', async () => {
    let works = false
    const load = () => (works ? Promise.resolve(null) : broken())
    const { ask } = await start({ policy: { ...passing, load } })
    expect((await ask()).decision).toBe('deny')

    works = true

    expect((await ask()).decision).toBe('allow')
  })

  it('is not asked on a plan that leaves it out', async () => {
    const { ask } = await start({ policy: { ...passing, load: broken } }, 'team')

    expect((await ask()).decision).toBe('allow')
  })

  it('does not keep the others from the facts that they gathered outside', async () => {
    const spend: Stage = {
      ...passing,
      gather: () => Promise.resolve('the facts'),
      prepare: (_asks, _snapshot, _tx, outside) => Promise.resolve(outside),
      decide: (_ask, state) =>
        state === 'the facts'
          ? { verdict: 'pass' }
          : { verdict: 'deny', reason: 'default_deny', message: 'no facts' },
    }
    const { ask } = await start(
      { spend_limit: spend, policy: { ...passing, load: broken } },
      'team',
    )

    expect((await ask()).decision).toBe('allow')
    expect((await ask()).decision).toBe('allow')
  })

  it('is no denial when it is the database that cannot be reached', async () => {
    const gone = () => Promise.reject(Object.assign(new Error('terminating'), { code: '57P01' }))
    const { call, size } = await start({ policy: { ...passing, prepare: gone } })
    const before = await size()

    const response = await call()

    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ code: 'ledger_unavailable' })
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await size()).toBe(before)
  })

  it.each([
    { code: '40001' },
    { code: '40P01' },
    { code: '0A000', routine: 'RevalidateCachedQuery' },
  ])('is no denial when PostgreSQL asks to repeat the transaction: %o', async (conflict) => {
    const waiting = { load: true, prepare: true }
    const once = (step: keyof typeof waiting) => () => {
      if (!waiting[step]) return Promise.resolve(null)
      waiting[step] = false
      return Promise.reject(Object.assign(new Error('try again'), conflict))
    }
    const { ask } = await start({
      policy: { ...passing, load: once('load'), prepare: once('prepare') },
    })

    expect((await ask()).decision).toBe('allow')
    expect(waiting).toEqual({ load: false, prepare: false })
  })
})

describe('a record that cannot be written', () => {
  it('is 503 for every request of its batch, and nothing of them happened', async () => {
    let works = false
    const stage: Stage = {
      ...passing,
      decide: () => ({ verdict: 'pass', effect: 'hold' }),
      record: () => (works ? Promise.resolve() : broken()),
    }
    const { call, ask, size } = await start({ spend_limit: stage })
    const before = await size()

    const answers = await Promise.all([call('a'), call('b'), call('c')])

    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    expect(await answers[0]?.json()).toMatchObject({ code: 'ledger_unavailable' })
    expect(await size()).toBe(before)
    works = true
    expect(await ask()).toMatchObject({ decision: 'allow', ledger: { seq: before } })
  })
})

describe('a batch', () => {
  it('shows each request the effects of those before it', async () => {
    const counting: Stage<null, never, { taken: boolean }> = {
      ...passing,
      load: () => Promise.resolve(null),
      prepare: () => Promise.resolve({ taken: false }),
      decide: (_ask, { taken }) =>
        taken
          ? { verdict: 'deny', reason: 'default_deny', message: 'taken' }
          : { verdict: 'pass', effect: 'take' },
      apply: (_settled, state) => {
        state.taken = true
      },
    }
    const { ask } = await start({ policy: counting })

    const answers = await Promise.all([ask(), ask(), ask()])

    expect(answers.map(({ decision }) => decision)).toEqual(['allow', 'deny', 'deny'])
  })

  it('hands `record` only what was allowed in the end, and writes what it returns', async () => {
    const recorded: string[] = []
    const holding: Stage = {
      ...passing,
      decide: () => ({ verdict: 'pass', effect: 'hold' }),
      record: (settled) => {
        recorded.push(...settled.map(({ ask }) => ask.request.agent_id))
        return Promise.resolve([handMade({ kind: 'thing.held', actor: SYSTEM, data: {} })])
      },
    }
    const choosing: Stage = {
      ...passing,
      decide: ({ request }) =>
        request.agent_id === 'bad'
          ? { verdict: 'deny', reason: 'policy_deny', message: 'no' }
          : { verdict: 'pass' },
    }
    const { ask, entry, size } = await start({ spend_limit: holding, policy: choosing })

    await Promise.all([ask('good'), ask('bad')])

    expect(recorded).toEqual(['good'])
    expect(await entry((await size()) - 1)).toMatchObject({ kind: 'thing.held' })
  })

  it('is decided at one time, which is that of its entries', async () => {
    const times = new Set<number>()
    const noting: Stage = {
      ...passing,
      decide: ({ now }) => {
        times.add(now)
        return { verdict: 'pass' }
      },
    }
    const { ask } = await start({ policy: noting })

    const answers = await Promise.all([ask(), ask(), ask()])

    expect(times.size).toBe(1)
    expect(new Set(answers.map(({ decided_at }) => Date.parse(decided_at)))).toEqual(times)
  })
})

describe('the snapshot of a stage', () => {
  it('is loaded once, and again after every change', async () => {
    let loads = 0
    const load = () => Promise.resolve(++loads)
    const { ask, change } = await start({ policy: { ...passing, load } })
    await ask()
    await ask()
    expect(loads).toBe(1)

    await change()
    await ask()

    expect(loads).toBe(2)
  })

  it('is asked for outside facts anew after every change', async () => {
    const gathered: unknown[] = []
    let rules = 'old'
    const stage: Stage = {
      ...passing,
      load: () => Promise.resolve(rules),
      gather: (_asks, snapshot) => Promise.resolve(gathered.push(snapshot)),
    }
    const { ask, change } = await start({ policy: stage })
    await ask()
    rules = 'new'
    await change()

    await ask()

    expect(gathered.at(-1)).toBe('new')
  })
})
