import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askNameServers } from '../../src/net/outbound.ts'

const A = 1
const AAAA = 28

/** A name server: `slow.` names get no answer, `v4.` and `v6.` names an address, others none. */
const server = createSocket('udp4')
let servers: string[]
beforeAll(async () => {
  server.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, 12)
    const name = query.toString('latin1', 13, end)
    const type = query.readUInt16BE(end + 1)
    if (name.startsWith('slow')) return
    const data =
      name.startsWith('v4') && type === A
        ? [203, 0, 113, 7]
        : name.startsWith('v6') && type === AAAA
          ? [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]
          : []
    const answers = data.length > 0 ? 1 : 0
    const header = Buffer.from([0x81, 0x80, 0, 1, 0, answers, 0, 0, 0, 0])
    const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data])
    const question = query.subarray(12, end + 5)
    server.send(
      Buffer.concat([query.subarray(0, 2), header, question, ...(answers ? [record] : [])]),
      port,
      address,
    )
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  servers = [`127.0.0.1:${server.address().port}`]
})
afterAll(() => void server.close())

describe('a look-up', () => {
  it.each([
    ['v4.example.org', [{ address: '203.0.113.7', family: 4 }]],
    ['v6.example.org', [{ address: '2001:db8::7', family: 6 }]],
  ])('has the addresses of %s', async (name, addresses) => {
    expect(await askNameServers(name, servers)).toEqual(addresses)
  })

  it('fails for a name without addresses', async () => {
    await expect(askNameServers('none.example.org', servers)).rejects.toThrow('no address')
  })

  it('is not delayed by many names whose servers do not answer', async () => {
    let pending = 0
    const slow = Array.from({ length: 100 }, async (_, i) => {
      pending++
      await askNameServers(`slow${i}.example.org`, servers).catch(() => undefined)
      pending--
    })
    await askNameServers('v4.example.org', servers)

    expect(pending).toBe(slow.length)
    await Promise.all(slow)
  })
})
