import { apiOf, createTestRemit, inFullRun, isFullRun, runs } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, loadModules } from '../../src/boot/modules.ts'
import { createEnterprise, decide, issue, register } from './support.ts'

const isRun = inFullRun('identity in two processes') && hasModules()

const WORKERS = isFullRun ? 8 : 4
const ROUNDS = runs(125) * WORKERS

describe.skipIf(!isRun)('identity: two processes on one PostgreSQL', () => {
  let here: Api
  let there: Api
  beforeAll(async () => {
    here = await createEnterprise({ dialect: 'postgres' })
    const { url, signingKey } = here.remit
    const remit = await createTestRemit({ modules: await loadModules(), url, signingKey })
    there = apiOf(remit, here.org)
  })
  afterAll(async () => {
    await there.remit.close()
    await here.remit.close()
  })

  const authorize = async (api: Api, agent_id: string, key: string) =>
    (await api.call('authorize', { key, body: { agent_id, action: 'a.b' } })).status
  const guard = async (api: Api, key: string) =>
    (await api.call('checkContent', { key, body: { content: 'x' } })).status

  it(
    'a credential that was revoked here is refused there by the next call',
    { timeout: 300_000 },
    async () => {
      // Organizations of their own, since each lets 60 credentials be issued a minute.
      const perWorker = 50
      const work = async (worker: number) => {
        let refused = 0
        let api = { here, there }
        for (let round = 0; round < ROUNDS / WORKERS; round++) {
          if (round % perWorker === 0) {
            const org = await here.remit.organization()
            api = { here: here.as(org), there: there.as(org) }
            await register(api.here, 'payer')
          }
          const { id, secret } = await issue(api.here, 'payer')
          const [from, to] = round % 2 ? [api.here, api.there] : [api.there, api.here]
          // The process that will refuse it has it in memory.
          expect(await authorize(to, 'payer', secret)).toBe(200)

          await from.ok('revokeCredential', { params: { credID: id } })

          const after =
            (worker + round) % 2 ? await authorize(to, 'payer', secret) : await guard(to, secret)
          expect(after).toBe(401)
          refused++
        }
        return refused
      }
      const all = await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)))

      expect(all.reduce((sum, count) => sum + count)).toBe(ROUNDS)
    },
  )

  it('no allow is recorded after the entry that removed the agent, or suspended it', async () => {
    for (let round = 0; round < runs(12, 4); round++) {
      const agent = `busy-${round}`
      await register(here, agent)
      const { secret } = await issue(here, agent)
      const over = new AbortController()
      const busy = [here, there, here, there].map(async (api, i) => {
        const key = i < 2 ? secret : api.org.key
        while (!over.signal.aborted) await authorize(api, agent, key)
      })
      const ended = round % 2 ? 'agent.removed' : 'agent.suspended'
      const params = { agentID: agent }
      await (round % 2
        ? there.ok('removeAgent', { params })
        : there.ok('changeAgent', {
            params,
            body: { status: 'suspended', suspended_reason: 'test' },
          }))
      over.abort()
      await Promise.all(busy)

      const { data } = await here.remit.ledger.list(here.org.id, {
        limit: 1000,
        order: 'asc',
        agent_id: agent,
      })
      const end = data.find(({ kind }) => kind === ended)
      const late = data.filter(
        ({ seq, decision }) => decision === 'allow' && seq > (end?.seq ?? -1),
      )
      expect(end).toBeDefined()
      expect(late).toEqual([])
    }
  })

  it('no decision by a credential is recorded after the entry that revoked it', async () => {
    await register(here, 'revoked')
    for (let round = 0; round < 8; round++) {
      const { id, secret } = await issue(here, 'revoked')
      const over = new AbortController()
      const busy = [here, there, there].map(async (api) => {
        while (!over.signal.aborted) await authorize(api, 'revoked', secret)
      })
      const { ledger } = await here.ok('revokeCredential', { params: { credID: id } })
      over.abort()
      await Promise.all(busy)

      const { data } = await here.remit.ledger.list(here.org.id, {
        limit: 1000,
        order: 'desc',
        actor: id,
        kind: 'authorization.decided',
      })
      expect(data.filter(({ seq }) => seq > (ledger?.seq ?? 0))).toEqual([])
    }
  })

  it('what the registry says is followed by the next decision of the other process', async () => {
    const params = { agentID: 'followed' }
    await register(here, 'followed')
    for (let round = 0; round < 25; round++) {
      const body = { status: 'suspended', suspended_reason: 'test' }
      await here.ok('changeAgent', { params, body })
      expect(await decide(there, 'followed')).toBe('agent_suspended')
      await there.ok('changeAgent', { params, body: { status: 'active' } })
      expect(await decide(here, 'followed')).toBe('allow')
    }
  })

  it('a narrowed agent loses a scope with the next call of the other process', async () => {
    await register(here, 'narrowed')
    const { secret } = await issue(here, 'narrowed')
    const params = { agentID: 'narrowed' }
    for (let round = 0; round < 10; round++) {
      expect(await authorize(there, 'narrowed', secret)).toBe(200)
      await here.ok('changeAgent', { params, body: { allowed_scopes: ['guard'] } })
      expect(await authorize(there, 'narrowed', secret)).toBe(403)
      await there.ok('changeAgent', { params, body: { allowed_scopes: ['authorize'] } })
      expect(await authorize(here, 'narrowed', secret)).toBe(200)
    }
  })
})
