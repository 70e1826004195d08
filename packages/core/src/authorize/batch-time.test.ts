import { authorize } from '@remit/contract'
import type { AuthorizeAnswer } from '@remit/contract'
import { afterEach, describe, expect, it } from 'vitest'
import { computedMs } from '../base/clock.ts'
import { BATCH_MS } from '../computing/computing.ts'
import { implement } from '../http/endpoint.ts'
import { defineModule } from '../module/module.ts'
import { createTestRemit, someDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import type { Ask, Slot, Stage } from './stage.ts'

let remit: TestRemit
afterEach(() => remit.close())

const quiet = {
  unavailable: { reason: 'stage_unavailable', message: 'cannot answer' },
  load: () => Promise.resolve(null),
} as const

/** Computes for longer than a transaction has, by both clocks: the kernel counts CPU time in ticks. */
function computeLong(): void {
  const ends = [computedMs() + BATCH_MS + 1, performance.now() + BATCH_MS + 1] as const
  while (computedMs() < ends[0] || performance.now() < ends[1]);
}

const isHeavy = ({ request }: Ask): boolean => request.agent_id === 'heavy'

/** Conditions that compute for long: of a stage that prepares, or of one that does not. */
const HEAVY: Readonly<Record<string, Partial<Record<Slot, Stage>>>> = {
  'in a stage without prepare': {
    policy: {
      ...quiet,
      decide(ask) {
        if (isHeavy(ask)) computeLong()
        return { verdict: 'pass' }
      },
    },
  },
  'in a stage that prepares': {
    approval_rule: {
      ...quiet,
      match: (ask) => isHeavy(ask) && computeLong(),
      prepare: (asks) => Promise.resolve(asks.length),
      decide: () => ({ verdict: 'pass' }),
    },
  },
}

describe.each(someDialects())('decisions that compute for long on %s', (dialect) => {
  async function start(stages: Partial<Record<Slot, Stage>>) {
    const module = defineModule({
      name: 'hand_made',
      setup: ({ decider }) => ({
        stages,
        routes: implement(authorize, {
          authorize: ({ body }, _, request) => decider.authorize(body, request),
        }),
      }),
    })
    remit = await createTestRemit({ dialect, modules: [module] })
    const asking = async () => {
      const { id, key } = await remit.organization('enterprise')
      return {
        id,
        ask: async (agent_id: string, headers = {}) => {
          const body = { agent_id, action: 'b.c' }
          const response = await remit.call('POST', '/v1/authorize', { key, body, headers })
          expect(response.status).toBe(200)
          return (await response.json()) as AuthorizeAnswer
        },
      }
    }
    return { asking }
  }

  describe.each(Object.entries(HEAVY))('%s', (_, stages) => {
    it('are recorded in the order of arrival, one transaction each', async () => {
      const { asking } = await start(stages)
      const { ask } = await asking()
      await ask('light')

      const answers = await Promise.all(Array.from({ length: 6 }, () => ask('heavy')))

      const seqs = answers.map(({ ledger }) => ledger.seq)
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
      const sizes = answers.map(({ ledger }) => (ledger.checkpoint as { size: number }).size)
      expect(new Set(sizes).size).toBe(6)
    })

    it('let the decisions of another organization go between', async () => {
      const { asking } = await start(stages)
      const [heavy, other] = [await asking(), await asking()]
      await Promise.all([heavy.ask('light'), other.ask('light')])
      let left = 30
      const all = Array.from({ length: left }, () => heavy.ask('heavy').then(() => left--))
      await Promise.race(all)

      await other.ask('light')

      expect(left).toBeGreaterThan(20)
      await Promise.all(all)
    })
  })

  it('are prepared only where there is time for them', async () => {
    const prepared: number[] = []
    const { asking } = await start({
      ...HEAVY['in a stage without prepare'],
      spend_limit: {
        ...quiet,
        prepare: (asks) => Promise.resolve(prepared.push(asks.length)),
        decide: () => ({ verdict: 'pass' }),
      },
    })
    const { ask } = await asking()

    await Promise.all(Array.from({ length: 6 }, () => ask('heavy')))

    expect(prepared).toEqual([1, 1, 1, 1, 1, 1])
  })

  it('see what those before them have settled', async () => {
    let spent = 0
    const { asking } = await start({
      ...HEAVY['in a stage without prepare'],
      spend_limit: {
        ...quiet,
        prepare: () => Promise.resolve(null),
        decide: () =>
          spent < 2
            ? { verdict: 'pass', effect: 'hold' }
            : { verdict: 'deny', reason: 'spend_limit_daily', message: 'spent' },
        record: (settled) => {
          spent += settled.length
          return Promise.resolve()
        },
      },
    })
    const { ask } = await asking()

    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('heavy')))

    const inOrder = answers.toSorted((a, b) => a.ledger.seq - b.ledger.seq)
    expect(inOrder.map(({ decision }) => decision)).toEqual([
      'allow',
      'allow',
      'deny',
      'deny',
      'deny',
    ])
  })

  it('are made once for a repeated Idempotency-Key', async () => {
    const { asking } = await start(HEAVY['in a stage without prepare'] ?? {})
    const { id, ask } = await asking()
    const send = (i: number) => ask('heavy', { 'idempotency-key': `key-${i}` })

    const first = await Promise.all([0, 1, 2, 3].map(send))
    const { size } = await remit.ledger.head(id)
    const again = await Promise.all([0, 1, 2, 3].map(send))

    expect(again).toEqual(first)
    expect((await remit.ledger.head(id)).size).toBe(size)
  })
})
