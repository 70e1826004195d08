import { createTestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import governance from '../src/index.ts'
import { apiOf, createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const ROUNDS = 25

describe('no stale allow: after a change on one process, the next decision of another follows it', () => {
  let here: Api
  let there: Api
  beforeAll(async () => {
    here = await createApi({ dialect: 'postgres' })
    const { url, signingKey } = here.remit
    there = apiOf(await createTestRemit({ modules: [governance], url, signingKey }), here.org)
  })
  afterAll(async () => {
    await there.remit.close()
    await here.remit.close()
  })

  const decide = async (api: Api, agent_id: string) => {
    const body = { agent_id, action: 'a.b', context: { amount_usd: 1 } }
    const { decision, reason } = await api.ok('authorize', { body })
    return decision === 'allow' ? 'allow' : reason
  }

  it('a limit that is set and removed', async () => {
    const params = { id: 'limited' }
    for (let round = 0; round < ROUNDS; round++) {
      await here.ok('setSpendLimit', { params, body: { daily_usd: 0 } })
      expect(await decide(there, 'limited')).toBe('spend_limit_daily')
      await there.ok('removeSpendLimit', { params })
      expect(await decide(here, 'limited')).toBe('allow')
    }
  })

  it('a suspension and its end', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await here.remit.ports.agentSwitch?.suspend(here.org.id, 'stopped', 'test')
      expect(await decide(there, 'stopped')).toBe('agent_suspended')
      await there.remit.ports.agentSwitch?.resume(here.org.id, 'stopped')
      expect(await decide(here, 'stopped')).toBe('allow')
    }
  })

  it('also while the other process is busy deciding', async () => {
    const over = new AbortController()
    const busy = (async () => {
      const seen = new Set<string>()
      while (!over.signal.aborted) seen.add(await decide(there, 'busy'))
      return seen
    })()
    for (let round = 0; round < ROUNDS; round++) {
      await here.ok('setSpendLimit', { params: { id: 'busy' }, body: { daily_usd: 0 } })
      const denied = await Promise.all(Array.from({ length: 8 }, () => decide(there, 'busy')))
      expect(new Set(denied)).toEqual(new Set(['spend_limit_daily']))
      await here.ok('removeSpendLimit', { params: { id: 'busy' } })
      const allowed = await Promise.all(Array.from({ length: 8 }, () => decide(there, 'busy')))
      expect(new Set(allowed)).toEqual(new Set(['allow']))
    }
    over.abort()

    expect(await busy).toEqual(new Set(['allow', 'spend_limit_daily']))
  })

  it('spend that one process allowed counts on the other', async () => {
    await here.ok('setSpendLimit', { params: { id: 'shared' }, body: { daily_usd: 10 } })

    const decisions = []
    for (let turn = 0; turn < 12; turn++)
      decisions.push(await decide(turn % 2 ? here : there, 'shared'))

    expect(decisions).toEqual([
      ...Array(10).fill('allow'),
      'spend_limit_daily',
      'spend_limit_daily',
    ])
  })
})
