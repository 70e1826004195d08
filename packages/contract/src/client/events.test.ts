import { describe, expect, it } from 'vitest'
import { createClient } from './index.ts'

const headers = { 'content-type': 'text/event-stream; charset=utf-8' }

/** A client whose stream has these pieces; `leave` tells whether the body was left. */
function streaming(pieces: readonly string[], { ends = true } = {}) {
  let left = false
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      if (ends) controller.close()
    },
    cancel() {
      left = true
    },
  })
  const client = createClient({
    baseUrl: 'http://remit.example',
    key: 'k',
    fetch: () => Promise.resolve(new Response(body, { headers })),
  })
  return { client, left: () => left }
}

async function all(pieces: readonly string[]) {
  const events = []
  for await (const event of streaming(pieces).client.streamApprovals()) events.push(event)
  return events
}

describe('a stream of events', () => {
  it('has events, however its bytes are cut, with every kind of line end', async () => {
    const text = 'id: 7\nevent: approval\ndata: {"a":1}\r\ndata:two\r\n\r\n: comment\n\ndata: x\n\n'
    const expected = [
      { id: '7', event: 'approval', data: '{"a":1}\ntwo' },
      { id: '7', event: 'message', data: 'x' },
    ]

    expect(await all([text])).toEqual(expected)
    expect(await all(text.split(''))).toEqual(expected)
  })

  it('does not give an event that broke off', async () => {
    expect(await all(['data: whole\n\ndata: half\n'])).toEqual([
      { id: '', event: 'message', data: 'whole' },
    ])
  })

  it('ends its connection when the loop is left', async () => {
    const { client, left } = streaming(['data: 1\n\ndata: 2\n\n'], { ends: false })
    for await (const { data } of client.streamApprovals()) if (data === '1') break

    expect(left()).toBe(true)
  })

  it('throws the reason of a signal while it waits', async () => {
    const controller = new AbortController()
    const { client, left } = streaming(['data: 1\n\n'], { ends: false })
    const reading = (async () => {
      for await (const { data } of client.streamApprovals({ signal: controller.signal }))
        if (data === '1') queueMicrotask(() => controller.abort('enough'))
    })()

    await expect(reading).rejects.toBe('enough')
    expect(left()).toBe(true)
  })

  it('throws a RemitError where something else is answered', async () => {
    const client = createClient({
      baseUrl: 'http://remit.example',
      key: 'k',
      retries: 0,
      fetch: () => Promise.resolve(Response.json({})),
    })

    await expect(client.streamApprovals().next()).rejects.toMatchObject({
      code: 'unexpected_answer',
    })
  })
})
