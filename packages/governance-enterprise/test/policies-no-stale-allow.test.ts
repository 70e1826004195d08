import { createTestRemit, runs } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import governance from '../src/index.ts'
import { apiOf, createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const TRIES = runs(1_000)

describe('no stale allow', () => {
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

  const decide = async (api: Api, action: string) => {
    const { reason } = await api.ok('authorize', { body: { agent_id: 'payer', action } })
    return reason
  }

  it(
    'after the 201 of a deny on one process, no decision of another allows',
    { timeout: 300_000 },
    async () => {
      const stale: string[] = []
      for (let turn = 0; turn < TRIES; turn++) {
        const action = `svc.op${turn}`
        const body = { effect: 'deny', actions: [action] }
        // The other process decides meanwhile, so that it has a snapshot that is about to be old.
        const [{ id }] = await Promise.all([
          here.ok('createPolicy', { body }),
          decide(there, action),
        ])
        if ((await decide(there, action)) !== 'policy_deny') stale.push(`created ${turn}`)
        await here.ok('deletePolicy', { params: { policyID: id } })
        if (turn % 50 === 0 && (await decide(there, action)) !== 'default_allow')
          stale.push(`deleted ${turn}`)
      }

      expect(stale).toEqual([])
    },
  )
})
