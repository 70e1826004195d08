import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { sampled } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, startCounting, startGateway } from './mcp/support/http.ts'
import { ELSEWHERE, hasPublicCases, partsOf, PUBLIC_CASES } from './support/public-cases.ts'
import type { HttpCall, PublicCase } from './support/public-cases.ts'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

interface McpCall {
  readonly mcp: string
  readonly params: { readonly name?: string }
  readonly gateway?: { readonly map: object }
}
const isHttp = (call: object): call is HttpCall => 'path' in call
const isMcp = (call: object): call is McpCall => 'mcp' in call
const casesOf = (fits: (call: object) => boolean) =>
  PUBLIC_CASES.filter((one) => !ELSEWHERE.has(one.id) && fits(partsOf(one).call))

/** The value at a path such as `scores[0].error.code`. */
function at(value: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<unknown>((found, step) => (found as Record<string, unknown> | null)?.[step], value)
}

describe.skipIf(!hasPublicCases || !hasModules())('situations from public bug reports', () => {
  let remit: RemitServer
  beforeAll(async () => {
    remit = await startRemit()
  })
  afterAll(() => remit.stop())

  async function send(key: string, { method, path, body, raw, headers }: HttpCall) {
    const text = raw ?? (typeof body === 'string' ? body : JSON.stringify(body))
    const response = await fetch(`${remit.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(text !== undefined && { body: text }),
    })
    const answer = await response.text()
    return { status: response.status, body: parsed(answer) }
  }

  const parsed = (text: string): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }

  it.each(sampled(casesOf(isHttp), 5, 1).map((one) => [one.id, one] as const))(
    '%s',
    async (_, one) => {
      const { key } = await remit.remit.organization()
      const { setup, call } = partsOf(one)
      let last: unknown
      const filled = (step: HttpCall): HttpCall => ({
        ...step,
        path: step.path.replace(/\{(\S+?)\}/g, (_all, path: string) => String(at(last, path))),
      })
      for (const step of setup) {
        if (!isHttp(step)) continue
        const { status, body } = await send(key, filled(step))
        expect(status, JSON.stringify(body)).toBeLessThan(300)
        last = body
      }
      const { status, body } = await send(key, filled(call as HttpCall))
      expect(differences(one.expect, status, body)).toEqual([])
    },
  )

  describe.each(sampled(casesOf(isMcp), 5, 1).map((one) => [one.id, one] as const))(
    '%s',
    (_, one) => {
      it('behind the gateway', async () => {
        const org = await remit.remit.organization()
        const { setup, call } = partsOf(one)
        const { mcp, params, gateway: options } = call as McpCall
        const folder = mkdtempSync(join(tmpdir(), 'remit-case-'))
        const map = join(folder, 'map.json')
        writeFileSync(map, JSON.stringify(options?.map ?? {}))
        const inputSchema = { type: 'object' as const }
        const server = await startCounting({
          tools: () => ['pay', 'read_file'].map((name) => ({ name, inputSchema })),
        })
        for (const step of setup) if (isHttp(step)) await send(org.key, step)
        const gateway = await startGateway(
          { url: remit.url, org },
          { agent: 'coder', map_file: map, upstreams: { remote: { url: server.url } } },
        )
        const { client } = await connect(`${gateway.url}/mcp/remote`, org.key)
        const ask = (method: string, asked: object) =>
          client.request({ method, params: asked } as never).then(
            (result) => ({ result }),
            (error: unknown) => ({ error }),
          )
        for (const step of setup) {
          if (!isMcp(step)) continue
          const first = ask(step.mcp, step.params)
          await approveAll(org.key)
          await first
        }
        server.calls.length = 0
        const answer = await ask(mcp, params)
        await client.close()
        await gateway.stop()
        await server.stop()
        rmSync(folder, { recursive: true })
        for (const [path, value] of Object.entries(one.expect))
          expect(at(answer, path), JSON.stringify(answer)).toEqual(value)
        expect(server.calls).toEqual([])
      })
    },
  )

  async function approveAll(key: string): Promise<void> {
    const list = { method: 'GET', path: '/v1/approvals?status=pending' }
    await expect
      .poll(async () => at((await send(key, list)).body, 'data.length'), { timeout: 60_000 })
      .toBe(1)
    const id = String(at((await send(key, list)).body, 'data.0.id'))
    await send(key, {
      method: 'POST',
      path: `/v1/approvals/${id}/decide`,
      body: { decision: 'approve', approver: 'carol' },
    })
  }
})

/** The parts of an answer that differ from what a case expects; a sentence of a case is read here. */
function differences(expected: PublicCase['expect'], status: number, body: unknown): string[] {
  const alternative = expected['or']
  if (typeof alternative === 'string') {
    const found = at(body, alternative.replace(/ is set$/, ''))
    if (found !== undefined && found !== null) return []
  }
  return Object.entries(expected)
    .filter(([path, value]) => !holds(path, value, status, body))
    .map(([path]) => `${path}: ${JSON.stringify({ status, body }).slice(0, 2_000)}`)
}

function holds(path: string, value: unknown, status: number, body: unknown): boolean {
  const found = at(body, path)
  switch (path) {
    case 'or':
    case 'export payload':
      return true
    case 'either':
      return status === 200 || JSON.stringify(body).includes('79.99')
    case 'status':
    case 'http':
      return status === value
    case 'detail must not say':
      return !String(at(body, 'detail')).includes(String(value))
    case 'decisions':
      return at(body, 'evaluations[0].decision') === (value as unknown[])[0]
    case 'scores[*].score':
      return (at(body, 'scores') as { score: number }[]).every(({ score }) => score === value)
    case 'scores[0].reason':
      return String(found).includes('JSON')
    default: {
      const [, hidden] = /^does not contain (.+)$/.exec(String(value)) ?? []
      return hidden === undefined
        ? isDeepStrictEqual(found, value)
        : typeof found === 'string' && !found.includes(hidden)
    }
  }
}
