import { authorize, endpoint, guard, ledger } from '@remit/contract'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Stage } from '../authorize/stage.ts'
import { exactMatch } from '../scorers/built-in/matches.ts'
import { implement } from '../http/endpoint.ts'
import type { Contribution, Module } from './module.ts'
import { assemble, ModuleConflict } from './registry.ts'

const stage: Stage = {
  unavailable: { reason: 'stage_unavailable', message: '' },
  load: () => Promise.resolve(null),
  prepare: () => Promise.resolve(null),
  decide: () => ({ verdict: 'pass' }),
}
const never = () => Promise.reject(new Error('not called'))
const authorizing = () => implement(authorize, { authorize: never })
const agentSwitch = { suspend: never, resume: never, release: never, stopped: never }

const part = (name: string, contribution: Contribution, extra: Partial<Module> = {}) => ({
  module: { name, setup: () => contribution, ...extra },
  contribution,
})

describe('assemble', () => {
  it('puts together what modules bring', () => {
    const assembled = assemble([
      part('a', { routes: authorizing(), stages: { policy: stage } }),
      part('b', {
        scorers: [exactMatch],
        stages: { spend_limit: stage },
        provides: { agentSwitch },
      }),
    ])

    expect(assembled.routes.map((route) => route.name)).toEqual(['authorize'])
    expect([...assembled.stages.keys()]).toEqual(['spend_limit', 'policy'])
    expect(assembled.scorers).toEqual([exactMatch])
    expect(assembled.ports.agentSwitch).toBe(agentSwitch)
  })

  it.each([
    [
      'two modules fill one slot',
      [part('a', { stages: { policy: stage } }), part('b', { stages: { policy: stage } })],
      'a and b fill the slot policy',
    ],
    [
      'two modules bring one endpoint',
      [part('a', { routes: authorizing() }), part('b', { routes: authorizing() })],
      'two modules define the endpoint POST /v1/authorize',
    ],
    [
      'two modules bring one scorer',
      [part('a', { scorers: [exactMatch] }), part('b', { scorers: [exactMatch] })],
      'two modules define the scorer exact_match',
    ],
    [
      'two modules offer one port',
      [part('a', { provides: { agentSwitch } }), part('b', { provides: { agentSwitch } })],
      'b offers agentSwitch, which another module already offers',
    ],
    [
      'a module requires what nobody offers',
      [
        part('a', {}, { requires: ['agentSwitch', 'spendAccounts'] }),
        part('b', { provides: { agentSwitch } }),
      ],
      'a requires spendAccounts',
    ],
  ])('refuses to start when %s', (_, parts, message) => {
    expect(() => assemble(parts)).toThrow(new ModuleConflict(message))
  })

  it('takes a requirement that a later module meets', () => {
    const parts = [
      part('a', {}, { requires: ['agentSwitch'] }),
      part('b', { provides: { agentSwitch } }),
    ]

    expect(() => assemble(parts)).not.toThrow()
  })

  it('refuses an endpoint that the contract lacks, or has otherwise', () => {
    const secret = { plan: 'open', summary: '', ok: z.object({}) } as const
    const own = { secret: endpoint('GET /v1/secret', secret) }
    const changed = { authorize: { ...authorize.authorize, plan: 'open' as const } }

    expect(() => assemble([part('a', { routes: implement(own, { secret: never }) })])).toThrow(
      'secret is not in the contract',
    )
    expect(() =>
      assemble([part('a', { routes: implement(changed, { authorize: never }) })]),
    ).toThrow('authorize is not in the contract')
  })

  it('ends modules in the opposite order, one after the other', async () => {
    const ended: string[] = []
    const closing = (name: string) =>
      part(name, { close: () => Promise.resolve().then(() => void ended.push(name)) })

    await assemble([closing('a'), part('b', {}), closing('c')]).close()

    expect(ended).toEqual(['c', 'a'])
  })
})

describe('implement', () => {
  it('binds every endpoint of a group to its handler', () => {
    const { checkContent } = guard
    const routes = implement({ checkContent }, { checkContent: never })

    expect(routes).toEqual([{ name: 'checkContent', endpoint: checkContent, handle: never }])
  })

  it('does not compile without a handler', () => {
    // @ts-expect-error the handler of authorize is missing
    const routes = implement({ ...authorize, getEntry: ledger.getEntry }, { getEntry: never })

    expect(routes[0]?.handle).toBeUndefined()
  })
})
