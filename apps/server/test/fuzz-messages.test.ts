import { createTestRemit, runs } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../src/boot/listen.ts'
import type { Listener } from '../src/boot/listen.ts'
import { brokenMessage, validMessage, wrongMessages } from './support/fuzz-messages.ts'
import { exchange, faultOf } from './support/raw-exchange.ts'

const seed = Number(process.env['REMIT_TEST_FUZZ_SEED'] ?? Date.now() % 2 ** 31)
const BOUND_MS = 30_000
const AT_ONCE = 20

describe('messages that are not HTTP as it should be', () => {
  let remit: TestRemit
  let listener: Listener
  let key: string
  beforeAll(async () => {
    remit = await createTestRemit()
    ;({ key } = await remit.organization())
    listener = await listen(remit.app, { host: '127.0.0.1', port: 0, requestTimeoutMs: 3_000 })
  })
  afterAll(async () => {
    await listener.stop()
    await remit.close()
  })

  const faultFor = async (message: string) => {
    const received = await exchange(listener.url, message, BOUND_MS)
    return received === null ? `the connection was held for ${BOUND_MS} ms` : faultOf(received)
  }
  const answers = async () =>
    (await exchange(listener.url, validMessage(key), BOUND_MS))?.slice(0, 12)

  it.each(Object.keys(wrongMessages('')))(
    '%s: a problem document or a closed connection',
    async (name) => {
      expect(await faultFor(wrongMessages(key)[name] ?? '')).toBeNull()
      expect(await answers()).toBe('HTTP/1.1 200')
    },
  )

  it('random changes of a message do no more', async () => {
    process.stderr.write(`fuzz: REMIT_TEST_FUZZ_SEED=${seed}\n`)
    const messages = fc.sample(brokenMessage(key), { seed, numRuns: runs(500) })
    const faults: string[] = []

    for (let i = 0; i < messages.length; i += AT_ONCE) {
      const some = messages.slice(i, i + AT_ONCE)
      const found = await Promise.all(some.map(faultFor))
      faults.push(
        ...found.flatMap((fault, k) =>
          fault === null ? [] : `${fault}: ${JSON.stringify(some[k])}`,
        ),
      )
    }

    expect(faults).toEqual([])
    expect(await answers()).toBe('HTTP/1.1 200')
  })
})
