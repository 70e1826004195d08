import { expect } from 'vitest'
import type { Api } from './api.ts'

export interface ReadEvent {
  readonly id: number
  readonly event: string
  readonly data: {
    readonly seq: number
    readonly data: { readonly approval: { readonly id: string } }
  }
}

/** An open stream of `GET /v1/approvals/events`, read as an EventSource reads it. */
export interface EventReader {
  /** The next events, as many as asked for; fails after two minutes. */
  next(count: number): Promise<ReadEvent[]>
  /** Resolves when the server has ended the stream. */
  ended(): Promise<void>
  leave(): Promise<void>
}

interface OpenOptions {
  readonly lastEventId?: number | string
  readonly query?: object
  readonly key?: string
  readonly from?: 'streamApprovals' | 'streamEntries'
}

export async function openEvents(api: Api, options: OpenOptions = {}): Promise<EventReader> {
  const { lastEventId, key, query, from = 'streamApprovals' } = options
  const response = await api.call(from, {
    ...(key !== undefined && { key }),
    ...(query && { query: query as never }),
    ...(lastEventId !== undefined && { headers: { 'last-event-id': String(lastEventId) } }),
  })
  expect(response.status, await (response.ok ? '' : response.text())).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const body: ReadableStream<Uint8Array> | null = response.body
  if (!body) throw new Error('the stream has no body')
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const found: ReadEvent[] = []
  const more = async (): Promise<boolean> => {
    const { value, done } = await reader.read()
    if (done) return false
    text += value
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    found.push(...blocks.flatMap((block) => parse(block) ?? []))
    return true
  }
  return {
    async next(count) {
      const deadline = AbortSignal.timeout(120_000)
      while (found.length < count) {
        if (deadline.aborted || !(await more()))
          throw new Error(`only ${found.length} of ${count} events came`)
      }
      return found.splice(0, count)
    },
    async ended() {
      while (await more());
    },
    leave: () => reader.cancel(),
  }
}

function parse(block: string): ReadEvent | null {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)]
    }),
  )
  const data = fields.get('data')
  if (data === undefined) return null
  return {
    id: Number(fields.get('id')),
    event: fields.get('event') ?? '',
    data: JSON.parse(data) as ReadEvent['data'],
  }
}
