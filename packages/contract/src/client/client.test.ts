import { describe, expect, expectTypeOf, it } from 'vitest'
import type { AuthorizeAnswer } from '../authorize.ts'
import type { Problem } from '../problem.ts'
import { createClient, RemitError, withOptions } from './index.ts'
import type { ServerEvent } from './index.ts'
import { validateAnswer } from './validate.ts'

/** A client whose requests are kept and answered as told, one after the other. */
function clientThatGets(...answers: (Response | Error)[]) {
  const sent: Request[] = []
  const client = createClient({
    baseUrl: 'https://remit.example:8443/base/',
    key: 'rmk_x',
    fetch: (request) => {
      const answer = answers[Math.min(sent.length, answers.length - 1)]
      sent.push(request)
      return answer instanceof Response ? Promise.resolve(answer) : Promise.reject(answer!)
    },
  })
  return { client, sent }
}

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  )

const ok = (body: unknown) => Response.json(body)

describe('createClient', () => {
  it('sends method, path, key and JSON as the contract says', async () => {
    const { client, sent } = clientThatGets(ok({ decision: 'allow' }))

    const answer = await client.authorize({ body: { agent_id: 'a', action: 'b.c' } })

    expect(answer).toEqual({ decision: 'allow' })
    expect(sent[0]?.method).toBe('POST')
    expect(sent[0]?.url).toBe('https://remit.example:8443/base/v1/authorize')
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer rmk_x')
    expect(sent[0]?.headers.get('content-type')).toBe('application/json')
    expect(await sent[0]?.json()).toEqual({ agent_id: 'a', action: 'b.c' })
  })

  it('puts parameters into the path, whatever they contain', async () => {
    const { client, sent } = clientThatGets(ok({}))

    await client.getSpendLimit({ params: { id: 'a/b?c#d é%' } })

    expect(new URL(sent[0]?.url ?? '').pathname).toBe(
      '/base/v1/spend-limits/a%2Fb%3Fc%23d%20%C3%A9%25',
    )
  })

  it('sends what is asked for in the query, and nothing of what is left out', async () => {
    const { client, sent } = clientThatGets(ok({}))

    await client.listEntries({ query: { agent_id: 'a&b', limit: 5, kind: undefined } })

    expect(new URL(sent[0]?.url ?? '').search).toBe('?agent_id=a%26b&limit=5')
    expect(sent[0]?.headers.has('content-type')).toBe(false)
  })

  it('takes further headers and an idempotency key', async () => {
    const { client, sent } = clientThatGets(ok({}))

    await client.appendEntry({
      body: { action: 'a.b' },
      headers: { prefer: 'receipt' },
      idempotencyKey: 'k',
    })

    expect(sent[0]?.headers.get('idempotency-key')).toBe('k')
    expect(sent[0]?.headers.get('prefer')).toBe('receipt')
  })

  it.each([{}, { params: {} }, { params: { id: '' } }, { params: { id: '..' } }])(
    'refuses %j where the path has a parameter, and sends nothing',
    async (call) => {
      const { client, sent } = clientThatGets(ok({}))

      const error = await thrownBy(client.getSpendLimit(call as { params: { id: string } }))

      expect(error).toMatchObject({ name: 'TypeError' })
      expect(String(error)).toContain('getSpendLimit needs params.id')
      expect(sent).toEqual([])
    },
  )

  it.each(['remit.example', 'ftp://remit.example', 'https://a:b@remit.example', 'https://x/?a=1'])(
    'refuses the base URL %s',
    (baseUrl) => {
      expect(() => createClient({ baseUrl, key: 'k' })).toThrow('baseUrl must be')
    },
  )

  it('follows no redirect', async () => {
    const { client } = clientThatGets(Response.redirect('https://elsewhere.example/', 307))

    expect(await thrownBy(client.listPolicies())).toMatchObject({
      code: 'unexpected_answer',
      status: 307,
    })
  })

  it('has the status and headers of an answer', async () => {
    const headers = { 'idempotency-replayed': 'true', 'content-type': 'application/json' }
    const { client } = clientThatGets(new Response('{}', { status: 201, headers }))

    const answer = await client.appendEntry.withResponse({ body: { action: 'a.b' } })

    expect(answer).toMatchObject({ data: {}, status: 201 })
    expect(answer.headers.get('idempotency-replayed')).toBe('true')
  })

  it('gives text where the answer is text, and nothing where there is none', async () => {
    expect(await clientThatGets(new Response('a note')).client.getCheckpoint()).toBe('a note')
    const empty = new Response(null, { status: 204 })
    expect(
      await clientThatGets(empty).client.removeSpendLimit({ params: { id: 'a' } }),
    ).toBeUndefined()
  })

  it('gives text where another format than JSON was asked for', async () => {
    const headers = { 'content-type': 'text/csv; charset=utf-8; header=present' }
    const { client } = clientThatGets(new Response('"a"\r\n', { headers }))
    const call = { params: { id: 'rpt_1' }, query: { format: 'csv' } } as const

    expect(await client.getReport(call)).toBe('"a"\r\n')
    expect(await clientThatGets(ok({ id: 'rpt_1' })).client.getReport(call)).toEqual({
      id: 'rpt_1',
    })
  })

  it('throws a refusal with its problem document', async () => {
    const problem: Problem = {
      type: 'urn:remit:problem:role_required',
      title: 'The role of the key does not allow this request',
      status: 403,
      detail: 'This needs a key with another role',
      code: 'role_required',
      request_id: 'r',
    }
    const { client } = clientThatGets(Response.json(problem, { status: 403 }))

    const error: unknown = await client.getCheckpoint().catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(RemitError)
    expect(error).toMatchObject({
      problem,
      message: 'role_required: This needs a key with another role',
    })
  })

  it.each([
    ['a page of a proxy', new Response('<h1>Bad gateway</h1>', { status: 502 }), 502],
    ['JSON of somebody else', Response.json({ error: 'no' }, { status: 403 }), 403],
    ['HTML with 200', new Response('<p>', { headers: { 'content-type': 'text/html' } }), 200],
    [
      'half of a body',
      new Response('{"a":', { headers: { 'content-type': 'application/json' } }),
      200,
    ],
  ])('throws a RemitError with the status for %s', async (_, answer, status) => {
    const { client } = clientThatGets(answer)

    const error = await thrownBy(client.listPolicies({ retries: 0 }))

    expect(error).toBeInstanceOf(RemitError)
    expect(error).toMatchObject({ code: 'unexpected_answer', status, problem: null })
  })

  it('throws a RemitError where there is no answer', async () => {
    const { client } = clientThatGets(new TypeError('fetch failed'))

    const error = await thrownBy(client.listPolicies({ retries: 0 }))

    expect(error).toMatchObject({ code: 'unreachable', status: 0 })
    expect(error).toHaveProperty('cause', new TypeError('fetch failed'))
  })

  it('checks an answer against the contract if asked to', async () => {
    const { client } = clientThatGets(ok({ decision: 'allow' }))
    const strict = withOptions(client, { validate: validateAnswer })

    const error = await thrownBy(strict.authorize({ body: { agent_id: 'a', action: 'b' } }))

    expect(error).toHaveProperty('cause.name', 'ZodError')
  })

  it('knows the types of calls and answers', () => {
    const { client } = clientThatGets(ok({}))

    expectTypeOf(client.authorize).returns.resolves.toEqualTypeOf<AuthorizeAnswer>()
    expectTypeOf(() => client.getCheckpoint()).returns.resolves.toEqualTypeOf<string>()
    const headers = { accept: 'application/json' }
    expectTypeOf(() => client.getCheckpoint({ headers })).returns.resolves.toEqualTypeOf<
      string | { note: string; origin: string; size: number; hash: string; vkey: string }
    >()
    expectTypeOf<[]>().toExtend<Parameters<typeof client.listScorers>>()
    expectTypeOf<[]>().not.toExtend<Parameters<typeof client.authorize>>()
    expectTypeOf(client.streamApprovals).returns.toEqualTypeOf<AsyncGenerator<ServerEvent>>()
    expectTypeOf<{ query: { limit: 5 } }>().toExtend<Parameters<typeof client.listEntries>[0]>()
    expectTypeOf<{ query: { order: 'up' } }>().not.toExtend<
      Parameters<typeof client.listEntries>[0]
    >()
    expectTypeOf<{ params: { seq: 7 } }>().toExtend<Parameters<typeof client.getProof>[0]>()
    expectTypeOf<{ params: { id: string } }>().not.toExtend<
      Parameters<typeof client.setSpendLimit>[0]
    >()
    expectTypeOf<{ params: { id: string } }>().toExtend<
      Parameters<typeof client.getSpendLimit>[0]
    >()
    expectTypeOf<Record<never, never>>().not.toExtend<Parameters<typeof client.getSpendLimit>[0]>()
    expectTypeOf<{ body: { agent_id: string } }>().not.toExtend<
      Parameters<typeof client.authorize>[0]
    >()
  })
})
