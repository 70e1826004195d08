import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startFaultyProxy } from './support/faults.ts'
import type { FaultyProxy } from './support/faults.ts'
import { hasLiteLlm, startLiteLlm } from './support/litellm.ts'
import type { LiteLlm } from './support/litellm.ts'
import { startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

// The key is the alias, so that each test has an agent of its own.
const AUTH = `
from litellm.proxy._types import UserAPIKeyAuth

async def auth(request, api_key):
    key = api_key.removeprefix("Bearer ")
    limit = {"rpm_limit": 1} if key == "sk-slow" else {}
    return UserAPIKeyAuth(api_key=key, key_alias=key, team_id="team-1", team_alias="care", **limit)
`

const INPUT_USD = 0.0001
const OUTPUT_USD = 0.01
/** The tokens of each answer: 10 and 50, so 0.501 USD. */
const USAGE = { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 }
const COST_USD = 0.501

type Fault = 'error' | 'cut' | 'blocked'

/** A server of OpenAI's API. `next` has what it does instead of an answer, one for each request. */
async function startModel() {
  const next: Fault[] = []
  let asked = 0
  const gate = { held: null as Promise<void> | null }
  const server = createServer((request, response) => {
    void (async () => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      if (request.method !== 'POST') return response.writeHead(404).end()
      asked++
      await gate.held
      const fault = next.shift()
      const { stream } = JSON.parse(text) as { stream?: boolean }
      const base = { id: 'c1', created: 1, model: 'gpt' }
      if (fault === 'error')
        return response
          .writeHead(500, { 'content-type': 'application/json' })
          .end('{"error":{"message":"down"}}')
      const content = fault === 'blocked' ? 'The card is 4111 1111 1111 1111.' : 'Good morning.'
      if (stream !== true) {
        if (fault === 'cut') return response.destroy()
        const message = { role: 'assistant', content }
        const choices = [{ index: 0, message, finish_reason: 'stop' }]
        response.setHeader('content-type', 'application/json')
        return response.end(
          JSON.stringify({ ...base, object: 'chat.completion', choices, usage: USAGE }),
        )
      }
      const send = (choices: object[], more: object = {}) =>
        response.write(
          `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, ...more })}\n\n`,
        )
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      send([{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }])
      if (fault === 'cut') return response.socket?.end(() => response.destroy())
      send([{ index: 0, delta: {}, finish_reason: 'stop' }])
      send([], { usage: USAGE })
      return response.end('data: [DONE]\n\n')
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    next,
    gate,
    asked: () => asked,
    stop: () => server.close(),
  }
}

/** The configuration of docs/hooks.md, with a guardrail on answers and LiteLLM's own retries for one model. */
function configOf(model: string, remit: string, key: string) {
  const deployment = (name: string, price: object, retries = 0) => ({
    model_name: name,
    litellm_params: {
      model: `openai/${name}`,
      api_base: model,
      api_key: 'sk-model',
      max_retries: 0,
      num_retries: retries,
    },
    model_info: { mode: 'chat', ...price },
  })
  const price = { input_cost_per_token: INPUT_USD, output_cost_per_token: OUTPUT_USD }
  return {
    model_list: [
      deployment('priced', { ...price, max_output_tokens: 1_000 }),
      deployment('retried', { ...price, max_output_tokens: 1_000 }, 2),
      deployment('unpriced', {}),
    ],
    guardrails: [
      {
        guardrail_name: 'remit',
        litellm_params: {
          guardrail: 'generic_guardrail_api',
          mode: 'post_call',
          default_on: true,
          unreachable_fallback: 'fail_closed',
          api_base: `${remit}/v1/hooks/litellm`,
          headers: { Authorization: `Bearer ${key}`, 'Remit-Mode': 'pre_call' },
        },
      },
    ],
    litellm_settings: { callbacks: ['remit.litellm.budget'] },
    general_settings: {
      custom_auth: 'remit_auth.auth',
      custom_auth_run_common_checks: true,
      master_key: `sk-${crypto.randomUUID()}`,
    },
  }
}

describe.each(['oldest', 'newest'])('the budget of the %s LiteLLM', (version) => {
  describe.skipIf(!hasLiteLlm(version))('in front of a model', () => {
    let server: RemitServer
    let faulty: FaultyProxy
    let model: Awaited<ReturnType<typeof startModel>>
    let proxy: LiteLlm
    beforeAll(async () => {
      server = await startRemit()
      faulty = await startFaultyProxy(server.url)
      model = await startModel()
      const config = configOf(model.url, server.url, server.org.key)
      proxy = await startLiteLlm(version, config, AUTH, {
        PYTHONPATH: resolve(import.meta.dirname, '../../sdks/python/src'),
        REMIT_URL: faulty.url,
        REMIT_KEY: server.org.key,
      })
    }, 300_000)
    afterAll(async () => {
      await proxy.stop()
      model.stop()
      await faulty.stop()
      await server.stop()
    })
    beforeEach(() => {
      faulty.next = () => 'pass'
      model.next.length = 0
      model.gate.held = null
    })

    async function chat(key: string, more: object = {}) {
      const messages = [{ role: 'user', content: 'hello' }]
      const response = await fetch(`${proxy.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'priced', messages, max_tokens: 50, ...more }),
      })
      return { status: response.status, text: await response.text().catch(() => 'cut off') }
    }
    const limit = (id: string, daily_usd: number) =>
      server.client.setSpendLimit({ params: { id }, body: { daily_usd } })
    async function usage(id: string) {
      const { spent } = await server.client.getSpendLimit({ params: { id } })
      return { spent: spent.day.usd, held: spent.day.held_usd }
    }
    const settled = (id: string, spent: number) =>
      vi.waitUntil(
        async () => {
          const now = await usage(id)
          return now.held === 0 && now.spent === spent
        },
        { timeout: 30_000, interval: 100 },
      )

    it.each([false, true])(
      'denies the call after the cap, with nobody else reporting (stream: %s)',
      async (stream) => {
        const key = `sk-cap-${stream}`
        await limit(key, 1.2)
        const first = await chat(key, { stream })
        await settled(key, COST_USD)
        const second = await chat(key, { stream })
        await settled(key, 2 * COST_USD)
        const asked = model.asked()
        const third = await chat(key, { stream })

        expect([first.status, second.status, third.status]).toEqual([200, 200, 403])
        expect(third.text).toContain('spend_limit_daily')
        expect(model.asked()).toBe(asked)
      },
    )

    it('counts the tokens of answers in a budget of tokens', async () => {
      const params = { id: 'tokens' }
      const match = { agents: ['sk-tokens'] }
      await server.client.setBudget({
        params,
        body: { unit: 'tokens', window: 'day', limit: 400, match },
      })
      const statuses: number[] = []
      let last = { status: 200, text: '' }
      while (last.status === 200 && statuses.length < 10) {
        last = await chat('sk-tokens')
        statuses.push(last.status)
        const used = 60 * statuses.filter((status) => status === 200).length
        await vi.waitUntil(
          async () => {
            const { usage: now } = await server.client.getBudget({ params })
            return now?.held === 0 && now.used === used
          },
          { timeout: 30_000, interval: 100 },
        )
      }
      expect(statuses.length).toBeGreaterThan(2)
      expect(last.status).toBe(403)
      expect(last.text).toContain('budget_exceeded')
    })

    it('lets parallel calls hold no more than the cap', async () => {
      await limit('sk-parallel', 2)
      let open = () => {}
      model.gate.held = new Promise((done) => (open = done))
      const before = model.asked()
      const calls = Array.from({ length: 12 }, () => chat('sk-parallel'))
      const refused = vi.waitUntil(async () => (await usage('sk-parallel')).held > 1, 30_000)
      await refused
      const { held } = await usage('sk-parallel')
      open()
      const statuses = (await Promise.all(calls)).map(({ status }) => status)
      const allowed = statuses.filter((status) => status === 200).length
      await settled('sk-parallel', Math.round(allowed * COST_USD * 1e6) / 1e6)

      expect(held).toBeLessThanOrEqual(2)
      expect(allowed).toBe(model.asked() - before)
      expect(allowed).toBeGreaterThan(0)
      expect(allowed * COST_USD).toBeLessThanOrEqual(2)
    })

    it('holds the longest answer of the model where the client sets no limit, or a lower one too', async () => {
      await limit('sk-long', 5)
      const without = await chat('sk-long', { max_tokens: undefined })
      const both = await chat('sk-long', { max_tokens: 1, max_completion_tokens: 900 })
      const many = await chat('sk-long', { n: 20 })

      expect([without.status, both.status, many.status]).toEqual([403, 403, 403])
    })

    it('counts functions and schemas as input', async () => {
      await limit('sk-schema', 5)
      const description = 'x'.repeat(1_000_000)
      const schema = { type: 'object', description }
      const functions = [{ name: 'a', parameters: schema }]
      const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } }

      expect((await chat('sk-schema')).status).toBe(200)
      expect((await chat('sk-schema', { functions })).status).toBe(403)
      expect((await chat('sk-schema', { response_format })).status).toBe(403)
    })

    it('releases the hold of a call that the model refuses', async () => {
      await limit('sk-failed', 1)
      model.next.push('error')
      const failed = await chat('sk-failed')
      await settled('sk-failed', 0)

      expect(failed.status).toBe(500)
      expect((await chat('sk-failed')).status).toBe(200)
      await settled('sk-failed', COST_USD)
    })

    it('holds once for the retries of LiteLLM, and settles the one that succeeds', async () => {
      await limit('sk-retried', 1)
      model.next.push('error', 'error')
      const before = model.asked()

      expect((await chat('sk-retried', { model: 'retried' })).status).toBe(200)
      expect(model.asked() - before).toBe(3)
      await settled('sk-retried', COST_USD)
    })

    it('keeps the hold of a stream that is cut off', async () => {
      await limit('sk-cut', 1)
      model.next.push('cut')
      await chat('sk-cut', { stream: true })
      const next = await chat('sk-cut')

      expect(next.status).toBe(403)
      const { spent, held } = await usage('sk-cut')
      expect(spent + held).toBeGreaterThan(0)
    })

    it('counts an answer that a guardrail keeps from the client', async () => {
      await limit('sk-guarded', 1)
      model.next.push('blocked')
      const blocked = await chat('sk-guarded')
      const next = await chat('sk-guarded')

      expect([blocked.status, next.status]).toEqual([400, 403])
    })

    it('asks the model nothing without a price', async () => {
      const before = model.asked()
      const { status, text } = await chat('sk-unpriced', { model: 'unpriced' })

      expect(status).toBe(403)
      expect(text).toContain('no price')
      expect(model.asked()).toBe(before)
    })

    it('holds nothing for a call that a rate limit of LiteLLM denies', async () => {
      await limit('sk-slow', 5)
      const first = await chat('sk-slow')
      const second = await chat('sk-slow')
      await settled('sk-slow', COST_USD)

      expect([first.status, second.status]).toEqual([200, 429])
    })

    it('lets a client settle no hold', async () => {
      await limit('sk-own', 0.6)
      await chat('sk-own', {
        metadata: { remit_hold: 'x' },
        litellm_metadata: { remit_hold: 'x' },
      })
      await settled('sk-own', COST_USD)

      expect((await chat('sk-own')).status).toBe(403)
    })

    it('asks the model nothing if Remit does not answer', async () => {
      faulty.next = () => 'bad_gateway'
      const before = model.asked()
      const { status, text } = await chat('sk-away')

      expect(status).toBe(503)
      expect(text).toContain('Denied by Remit')
      expect(model.asked()).toBe(before)
    })

    it('keeps the hold of a call whose cost does not reach Remit', async () => {
      await limit('sk-lost', 1)
      faulty.next = ({ url }) => (url === '/v1/ledger' ? 'bad_gateway' : 'pass')
      const first = await chat('sk-lost')
      const next = await chat('sk-lost')

      expect([first.status, next.status]).toEqual([200, 403])
      expect((await usage('sk-lost')).held).toBeGreaterThanOrEqual(COST_USD)
    })
  })
})
