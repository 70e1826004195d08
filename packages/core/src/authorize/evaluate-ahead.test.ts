import { authorize } from '@remit/contract'
import type { AuthorizeAnswer } from '@remit/contract'
import { afterEach, describe, expect, it } from 'vitest'
import { computedMs } from '../base/cpu-time.ts'
import { BATCH_MS } from '../computing/meter.ts'
import { implement } from '../http/endpoint.ts'
import { defineModule } from '../module/module.ts'
import { createClock, createTestRemit, someDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import type { ConditionThreads } from './evaluate-ahead.ts'
import type { WantedConditions } from './evaluated-conditions.ts'
import type { Stage } from './stage.ts'

let remit: TestRemit
afterEach(() => remit.close())

/** Computes for longer than a transaction has, by both clocks. */
function computeLong(): void {
  const ends = [computedMs() + BATCH_MS + 1, performance.now() + BATCH_MS + 1] as const
  while (computedMs() < ends[0] || performance.now() < ends[1]);
}

const results = (wanted: readonly WantedConditions[], isOver = false) =>
  wanted.map(() => ({ results: [true], isOver, computedMs: BATCH_MS }))

describe.each(someDialects())(
  'conditions of an organization that computes for long on %s',
  (dialect) => {
    /**
     * One condition, which is true if a thread evaluates it, and otherwise false after long computing.
     * `decide` repeats a request until a thread was asked, because only a busy server asks.
     */
    async function start(evaluate: ConditionThreads['evaluate'], clock = createClock()) {
      let asked = 0
      let evaluatedHere = 0
      const heavy = () => {
        evaluatedHere++
        computeLong()
        return false
      }
      const policy: Stage = {
        unavailable: { reason: 'stage_unavailable', message: 'cannot answer' },
        load: () => Promise.resolve(null),
        decide(ask) {
          if (ask.request.agent_id === 'light') return { verdict: 'pass' }
          const isTrue = ask.evaluated ? ask.evaluated.of(ask, 'condition', heavy) : heavy()
          if (!isTrue) return { verdict: 'pass' }
          const message = ask.meter.isOver() ? 'over' : 'in time'
          return { verdict: 'deny', reason: 'policy_deny', message }
        },
      }
      const conditionThreads: ConditionThreads = {
        evaluate(orgId, wanted) {
          asked++
          return evaluate(orgId, wanted)
        },
      }
      const module = defineModule({
        name: 'hand_made',
        setup: ({ decider }) => ({
          stages: { policy },
          provides: { conditionThreads },
          routes: implement(authorize, {
            authorize: ({ body }, caller, request) => decider.authorize(caller, body, request),
          }),
        }),
      })
      remit = await createTestRemit({ dialect, modules: [module], clock })
      const orgs = [await remit.organization(), await remit.organization()] as const
      const ask = async ({ key }: { key: string }, agent_id: string) => {
        const body = { agent_id, action: 'b.c' }
        const response = await remit.call('POST', '/v1/authorize', { key, body })
        expect(response.status).toBe(200)
        return (await response.json()) as AuthorizeAnswer
      }
      const decide = async (count = 1) => {
        for (;;) {
          const before = asked
          await ask(orgs[1], 'light')
          const answers = await Promise.all(
            Array.from({ length: count }, () => ask(orgs[0], 'heavy')),
          )
          if (asked > before) return answers
        }
      }
      return {
        orgId: orgs[0].id,
        decide,
        ask: () => ask(orgs[0], 'heavy'),
        here: () => evaluatedHere,
      }
    }

    it('are evaluated by threads while another organization is active', async () => {
      const { decide, here } = await start((_, wanted) => Promise.resolve(results(wanted)))
      const [first] = await decide()
      const before = here()
      const answers = await decide(40)

      expect(first).toMatchObject({ decision: 'deny', message: 'in time' })
      expect(answers.some(({ decision }) => decision === 'deny')).toBe(true)
      // A pause of a second lets one batch through that is evaluated here.
      expect(here() - before).toBeLessThan(40)
    })

    it('exceed the time limit of the decision if a thread says so', async () => {
      const { decide } = await start((_, wanted) => Promise.resolve(results(wanted, true)))
      const [answer] = await decide()

      expect(answer).toMatchObject({ decision: 'deny', message: 'over' })
    })

    it('are evaluated in the transaction after the rules have changed', async () => {
      const { decide, orgId } = await start(async (_, wanted) => {
        await remit.db
          .updateTable('ledger_head')
          .set((head) => ({ config_version: head('config_version', '+', 1) }))
          .where('org_id', '=', orgId)
          .execute()
        return results(wanted)
      })
      const [answer] = await decide()

      expect(answer?.decision).toBe('allow')
    })

    it.each([
      [1_000, 0],
      [1_001, 1_001],
    ])(
      'that were evaluated %i ms ago are decided for a time %i ms later',
      async (ageMs, laterMs) => {
        const clock = createClock()
        let at = NaN
        const { decide } = await start((_, wanted) => {
          at = clock.now()
          clock.advance(ageMs)
          return Promise.resolve(results(wanted))
        }, clock)
        const [answer] = await decide()

        expect(Date.parse(answer?.decided_at ?? '')).toBe(at + laterMs)
      },
    )

    it.each<[string, ConditionThreads['evaluate']]>([
      ['fail', () => Promise.reject(new Error('the thread is gone'))],
      ['return nothing', () => Promise.resolve([])],
    ])('are evaluated in the transaction if the threads %s', async (_, evaluate) => {
      const { decide } = await start(evaluate)
      const [answer] = await decide()

      expect(answer?.decision).toBe('allow')
    })
  },
)
