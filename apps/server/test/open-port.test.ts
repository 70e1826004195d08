import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { listen, ListenError, OpenResponses, openPort, gracefulStop } from '../src/boot/listen.ts'
import type { Listener } from '../src/boot/listen.ts'

const sockets: Socket[] = []
const listeners: Pick<Listener, 'stop'>[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(listeners.splice(0).map((listener) => listener.stop()))
})

const app = { fetch: () => new Response('answered') }
const onFreePort = { host: '127.0.0.1', port: 0 }

async function listening(options = onFreePort): Promise<Listener> {
  const listener = await listen(app, options)
  listeners.push(listener)
  return listener
}

describe.runIf(process.platform === 'linux')('many connections that arrive together', () => {
  it('are accepted in a fraction of as many turns of the event loop', async () => {
    const server = createServer()
    const { address, others } = await openPort(server, '127.0.0.1', 0)
    listeners.push({ stop: gracefulStop(server, new OpenResponses(server), others) })
    let turn = 0
    let ended = false
    const count = () => {
      turn++
      if (!ended) setImmediate(count)
    }
    const turns = new Set<number>()
    const all = new Promise<void>((resolve) => {
      let accepted = 0
      server.on('connection', () => {
        turns.add(turn)
        if (++accepted === 200) resolve()
      })
    })
    count()
    for (let i = 0; i < 200; i++) sockets.push(connect(address.port, '127.0.0.1'))
    await all
    ended = true

    expect(turns.size).toBeLessThan(100)
  })
})

describe('a port with several sockets', () => {
  it('answers on every connection, and on none after the stop', async () => {
    const listener = await listen(app, onFreePort)
    const ask = () => fetch(listener.url, { headers: { connection: 'close' } })
    const answers = await Promise.all(Array.from({ length: 100 }, ask))
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    await listener.stop()

    expect(new Set(texts)).toEqual(new Set(['answered']))
    for (let i = 0; i < 50; i++) await expect(ask()).rejects.toThrow('fetch failed')
  })

  it('waits at the stop for a request on any of its connections', async () => {
    const all = Promise.withResolvers<void>()
    const begun: (() => void)[] = []
    const fetchSlowly = () =>
      new Promise<Response>((resolve) => {
        begun.push(() => resolve(new Response('ended')))
        if (begun.length === 50) all.resolve()
      })
    const listener = await listen({ fetch: fetchSlowly }, onFreePort)
    const asked = Array.from({ length: 50 }, () => fetch(listener.url))
    await all.promise
    const stopped = listener.stop()
    for (const end of begun) end()
    const texts = await Promise.all(asked.map(async (answer) => (await answer).text()))
    await stopped

    expect(texts).toEqual(Array(50).fill('ended'))
  })

  it('is not shared with another server', async () => {
    const { url } = await listening()
    const port = Number(new URL(url).port)

    await expect(listen(app, { host: '127.0.0.1', port })).rejects.toThrow(
      new ListenError(`Port ${port} on 127.0.0.1 is already in use`),
    )
  })
})
