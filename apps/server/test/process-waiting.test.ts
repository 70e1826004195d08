import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { startServer } from './support/process.ts'

const isRun = inFullRun('stopping servers while clients wait') && hasModules()

describe.skipIf(!isRun)('a server that is stopped while clients wait', () => {
  let installation: Installation
  let env: Record<string, string>
  let key: string
  beforeAll(async () => {
    installation = await createInstallation()
    env = { ...installation.env, REMIT_LOG_LEVEL: 'silent', REMIT_RATE_LIMIT: '0' }
    key = (await createOrg(env)).key.secret
  })
  afterAll(() => installation.remove())

  test('answers who waits, ends the streams, and is gone in a moment', async () => {
    const { url, server } = await startServer(env)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const post = async (path: string, body: object) => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      return (await response.json()) as { readonly approval?: { readonly id: string } }
    }
    await post('/v1/approval-rules/all', {})
    const { approval } = await post('/v1/authorize', { agent_id: 'a', action: 'b' })
    const waiting = fetch(`${url}/v1/approvals/${approval?.id}?wait=55`, { headers })
    const events = await fetch(`${url}/v1/approvals/events`, { headers })
    // The request has arrived when a later one of its kind is answered.
    await fetch(`${url}/v1/approvals/${approval?.id}`, { headers })

    const started = performance.now()
    const ended = server.stop()

    expect(await (await waiting).json()).toMatchObject({ status: 'pending' })
    expect(await events.text()).toContain('retry:')
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  test('a client that leaves its stream leaves nothing behind', async () => {
    const { url, server } = await startServer(env)
    const headers = { authorization: `Bearer ${key}` }
    const stream = async () => {
      const over = new AbortController()
      const response = await fetch(`${url}/v1/approvals/events`, { headers, signal: over.signal })
      over.abort()
      return response.status
    }
    const statuses = []
    // A key has 100 places; the last few may not have been given back yet.
    for (let turn = 0; turn < 190; turn++) statuses.push(await stream())

    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await server.stop()).toMatchObject({ code: 0 })
  })
})
