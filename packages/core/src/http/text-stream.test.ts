import { describe, expect, it } from 'vitest'
import { textStream } from './text-stream.ts'

async function* lines(count: number, failure?: Error): AsyncGenerator<string> {
  for (let i = 0; i < count; i++) yield `${i}\n`
  if (failure) throw failure
}

/** A stream, and how often it ended. */
function open(text: AsyncGenerator<string>, unreadMs?: number) {
  let ended = 0
  const stream = textStream(text, () => void ended++, unreadMs)
  return { stream, ended: () => ended, text: () => new Response(stream).text() }
}

describe('the stream of an export ends once', () => {
  it('when it was read', async () => {
    const { text, ended } = open(lines(3))

    expect(await text()).toBe('0\n1\n2\n')
    expect(ended()).toBe(1)
  })

  it('when it fails', async () => {
    const { text, ended } = open(lines(3, new Error('pruned')))

    await expect(text()).rejects.toThrow('pruned')
    expect(ended()).toBe(1)
  })

  it('when its reader disconnects, and generation stops', async () => {
    const source = lines(1_000)
    const { stream, ended } = open(source)
    await stream.cancel()

    expect(ended()).toBe(1)
    expect(await source.next()).toEqual({ value: undefined, done: true })
  })

  it('when it is not read', async () => {
    const { stream, ended } = open(lines(1_000), 1)
    while (ended() === 0) await new Promise((resolve) => setTimeout(resolve, 1))

    await expect(stream.getReader().read()).rejects.toThrow('did not read')
    expect(ended()).toBe(1)
  })
})
