import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AnswerTooLarge, boundedText } from '../../src/net/outbound.ts'

const MAX = 64 * 1024

let server: Server
let url: string
let answer: (response: ServerResponse) => void
beforeAll(async () => {
  server = createServer((_, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const read = async () => boundedText(await fetch(url), MAX)

describe('boundedText', () => {
  it('gives a text of the greatest length whole', async () => {
    answer = (response) => response.end('ä'.repeat(MAX / 2))

    expect(await read()).toBe('ä'.repeat(MAX / 2))
  })

  it('ends an answer that never ends, and its connection', async () => {
    const closed = Promise.withResolvers<void>()
    answer = (response) => {
      const timer = setInterval(() => response.write('x'.repeat(16 * 1024)), 1)
      response.once('close', () => {
        clearInterval(timer)
        closed.resolve()
      })
    }

    await expect(read()).rejects.toThrow(AnswerTooLarge)
    await closed.promise
  })

  it('counts what an answer holds after decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    expect(bomb.length).toBeLessThan(2 * MAX)
    answer = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)

    await expect(read()).rejects.toThrow(AnswerTooLarge)
  })
})
