import { describe, expect, expectTypeOf, it } from 'vitest'
import type { AuthorizeAnswer } from './authorize.ts'
import { createClient, RemitError } from './client.ts'
import type { Problem } from './problem.ts'

/** A client whose requests are kept and answered as told. */
function clientThatGets(answer: Response) {
  const sent: Request[] = []
  const client = createClient({
    baseUrl: 'https://remit.example:8443/base/',
    key: 'rmk_x',
    fetch: (request) => {
      sent.push(request)
      return Promise.resolve(answer)
    },
  })
  return { client, sent }
}

const ok = (body: unknown) => Response.json(body)

describe('createClient', () => {
  it('sends method, path, key and JSON as the contract says', async () => {
    const { client, sent } = clientThatGets(ok({ decision: 'allow' }))

    const answer = await client.authorize({ body: { agent_id: 'a', action: 'b.c' } })

    expect(answer).toEqual({ decision: 'allow' })
    expect(sent[0]?.method).toBe('POST')
    expect(sent[0]?.url).toBe('https://remit.example:8443/v1/authorize')
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer rmk_x')
    expect(sent[0]?.headers.get('content-type')).toBe('application/json')
    expect(await sent[0]?.json()).toEqual({ agent_id: 'a', action: 'b.c' })
  })

  it('puts parameters into the path, whatever they contain', async () => {
    const { client, sent } = clientThatGets(ok({}))

    await client.getSpendLimit({ params: { id: 'a/b?c#d é%' } })

    expect(new URL(sent[0]?.url ?? '').pathname).toBe('/v1/spend-limits/a%2Fb%3Fc%23d%20%C3%A9%25')
  })

  it('sends what is asked for in the query, and nothing of what is left out', async () => {
    const { client, sent } = clientThatGets(ok({}))

    await client.listEntries({ query: { agent_id: 'a&b', limit: 5, kind: undefined } })

    expect(new URL(sent[0]?.url ?? '').search).toBe('?agent_id=a%26b&limit=5')
    expect(sent[0]?.headers.has('content-type')).toBe(false)
  })

  it('takes further headers, such as an Idempotency-Key', async () => {
    const { client, sent } = clientThatGets(ok({}))

    await client.appendEntry({ body: { action: 'a.b' }, headers: { 'idempotency-key': 'k' } })

    expect(sent[0]?.headers.get('idempotency-key')).toBe('k')
  })

  it('gives text where the answer is text, and nothing where there is none', async () => {
    expect(await clientThatGets(new Response('a note')).client.getCheckpoint({})).toBe('a note')
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
      title: 'The key may not do this',
      status: 403,
      detail: 'This needs a key with another role',
      code: 'role_required',
      request_id: 'r',
    }
    const { client } = clientThatGets(Response.json(problem, { status: 403 }))

    const error: unknown = await client.getCheckpoint({}).catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(RemitError)
    expect(error).toMatchObject({
      problem,
      message: 'role_required: This needs a key with another role',
    })
  })

  it('knows the types of calls and answers', () => {
    const { client } = clientThatGets(ok({}))

    expectTypeOf(client.authorize).returns.resolves.toEqualTypeOf<AuthorizeAnswer>()
    expectTypeOf(client.getCheckpoint).returns.resolves.toEqualTypeOf<string>()
    expectTypeOf<Record<never, never>>().toExtend<Parameters<typeof client.listScorers>[0]>()
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
