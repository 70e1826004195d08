import { generateKey } from '@remit/core/keys'
import { fullDialects, runs } from '@remit/testing'
import { describe, expect, it } from 'vitest'
import { setTimeout } from 'node:timers/promises'
import { hasModules } from '../src/boot/modules.ts'
import { createInstallation } from './support/installation.ts'
import { request, startServer } from './support/process.ts'

const KILLS = runs(8, 2)
const key = generateKey().secret
const settings = {
  REMIT_BOOTSTRAP_KEY: key,
  REMIT_RATE_LIMIT: '0',
  REMIT_LOG_LEVEL: 'silent',
  REMIT_EVALUATION: '1',
}
const documentsOf = (version: number) =>
  Array.from({ length: 400 }, (_, i) => ({
    apiVersion: 'remit.dev/v1',
    kind: 'Policy',
    name: `policy-${i}`,
    spec: { effect: 'deny', actions: [`version.${version}`] },
  }))

describe.skipIf(!hasModules()).each(fullDialects())('kill -9 during apply on %s', (dialect) => {
  it('leaves the old set or the new one', { timeout: 300_000 }, async () => {
    const installation = await createInstallation(dialect)
    const env = { ...installation.env, ...settings }
    const versions = new Set<number>()
    for (let round = 0; round <= KILLS; round++) {
      const { url, server } = await startServer(env)
      const set = `${url}/v1/policy-sets/main`
      const send = async (path: string, body: object) =>
        (await (await request(`${set}/${path}`, key, 'POST', body)).json()) as PlanAnswer
      if (round > 0) versions.add(await expectWhole(set))
      const documents = documentsOf(round)
      const { plan_digest } = await send('plan', { documents })
      const applying = send('apply', { documents, plan_digest })
      if (round === 0) await applying
      else await Promise.race([applying.catch(() => null), setTimeout(15 * round)])
      await server.stop('SIGKILL')
      await applying.catch(() => null)
    }
    expect(versions.size).toBeGreaterThan(0)
    await installation.remove()
  })
})

/** Fails unless the set is one whole version; returns which. */
async function expectWhole(set: string): Promise<number> {
  const answer = await request(`${set}/documents`, key, 'GET')
  const { documents } = (await answer.json()) as { documents: Document[] }
  expect(documents).toHaveLength(400)
  const seen = new Set(documents.map(({ spec }) => spec.actions.join()))
  expect([...seen]).toEqual([expect.stringMatching(/^version\.\d+$/)])
  const state = (await (await request(set, key, 'GET')).json()) as { drift: unknown[] }
  expect(state.drift).toEqual([])
  return Number([...seen][0]?.split('.')[1])
}

interface PlanAnswer {
  readonly plan_digest: string
}
interface Document {
  readonly spec: { readonly actions: readonly string[] }
}
