import { describe, expect, it } from 'vitest'
import { createClient } from './index.ts'

const busy = (status: number, headers: Record<string, string> = {}) =>
  new Response('busy', { status, headers: { 'retry-after': '0', ...headers } })
const problem = (code: string) =>
  Response.json(
    { code, detail: '' },
    { status: 409, headers: { 'content-type': 'application/problem+json', 'retry-after': '0' } },
  )

/** Number of attempts of a call whose first attempts fail. */
async function attempts(
  failures: readonly (() => Response)[],
  call: (client: ReturnType<typeof createClient>) => Promise<unknown>,
): Promise<{ sent: number; result: unknown }> {
  let sent = 0
  const client = createClient({
    baseUrl: 'http://remit.example',
    key: 'k',
    fetch: () => Promise.resolve(failures[sent++]?.() ?? Response.json({ data: [] })),
  })
  const result = await call(client).catch((error: unknown) => error)
  return { sent, result }
}

const append = { body: { action: 'a.b' } }

describe('retries', () => {
  it('repeat what can be repeated, up to the number of retries', async () => {
    const twice = [() => busy(503), () => busy(502)]

    expect((await attempts(twice, (c) => c.listPolicies())).result).toEqual({ data: [] })
    expect((await attempts(twice, (c) => c.listPolicies({ retries: 1 }))).result).toMatchObject({
      status: 502,
    })
    expect(await attempts(twice, (c) => c.appendEntry({ ...append, idempotencyKey: 'k' }))).toEqual(
      {
        sent: 3,
        result: { data: [] },
      },
    )
  })

  it('do not repeat a POST without an idempotency key, nor a DELETE, but after 429', async () => {
    const once = [() => busy(503)]

    expect((await attempts(once, (c) => c.appendEntry(append))).sent).toBe(1)
    expect((await attempts(once, (c) => c.deleteWebhook({ params: { id: 'a' } }))).sent).toBe(1)
    expect((await attempts([() => busy(429)], (c) => c.appendEntry(append))).sent).toBe(2)
  })

  it('wait for the first request with the same key, and for nothing else that is refused', async () => {
    const keyed = { ...append, idempotencyKey: 'k' }

    const waiting = [() => problem('idempotency_in_progress')]
    expect((await attempts(waiting, (c) => c.appendEntry(keyed))).sent).toBe(2)
    const refused = [() => problem('idempotency_mismatch')]
    expect((await attempts(refused, (c) => c.appendEntry(keyed))).sent).toBe(1)
  })

  it('do not wait longer than a minute for a server', async () => {
    const later = [() => busy(429, { 'retry-after': '61' })]

    expect((await attempts(later, (c) => c.listPolicies())).sent).toBe(1)
  })
})

describe('time limits and signals', () => {
  /** Answers nothing, and ignores its signal. */
  const deaf = (options = {}) =>
    createClient({
      baseUrl: 'http://remit.example',
      key: 'k',
      retries: 0,
      fetch: () => new Promise<Response>(() => undefined),
      ...options,
    })

  it('end a call whose fetch answers nothing', async () => {
    await expect(deaf({ timeoutMs: 1 }).listPolicies()).rejects.toMatchObject({
      code: 'timed_out',
      status: 0,
    })
    await expect(deaf().listPolicies({ timeoutMs: 1 })).rejects.toMatchObject({ code: 'timed_out' })
  })

  it('end a body that does not end', async () => {
    const headers = { 'content-type': 'application/json' }
    const fetch = () => Promise.resolve(new Response(new ReadableStream(), { headers }))

    await expect(deaf({ timeoutMs: 1, fetch }).listPolicies()).rejects.toMatchObject({
      code: 'timed_out',
    })
  })

  it('reject with the reason of the caller, and send nothing once it has aborted', async () => {
    const controller = new AbortController()
    const waiting = deaf().listPolicies({ signal: controller.signal })
    controller.abort('enough')

    await expect(waiting).rejects.toBe('enough')
    await expect(deaf().listPolicies({ signal: AbortSignal.abort('before') })).rejects.toBe(
      'before',
    )
  })
})
