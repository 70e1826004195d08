import { authorize } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fail } from '../../src/base/errors.ts'
import { implement } from '../../src/http/endpoint.ts'
import { createClock, createTestRemit, DIALECTS } from '@remit/testing'
import type { TestClock, TestRemit } from '@remit/testing'
import { problemOf } from './support.ts'

const score = (output: string) => ({ scorer: 'exact_match', results: [{ output, expected: 'a' }] })

// Endpoints that do not write the ledger keep their answers apart from it; this is their path.
describe.each(DIALECTS)('Idempotency-Key on %s', (dialect) => {
  let remit: TestRemit
  let clock: TestClock
  let key: string
  let orgId: string
  beforeAll(async () => {
    clock = createClock()
    remit = await createTestRemit({ dialect, clock })
    ;({ key, id: orgId } = await remit.organization())
  })
  afterAll(() => remit.close())

  const send = (idempotencyKey: string, body: object, path = '/v1/scorers', as = key) =>
    remit.call('POST', path, { key: as, body, headers: { 'idempotency-key': idempotencyKey } })
  const kept = async (name: string) =>
    remit.db
      .selectFrom('idempotency_key')
      .selectAll()
      .where('key', 'like', `key:%\n${name}`)
      .execute()

  it('gives the same status and body again, byte for byte, without doing it twice', async () => {
    const first = await send('again', score('a'))
    const text = await first.text()
    // A new computation would show in the stored row.
    await remit.db
      .updateTable('idempotency_key')
      .set({ body: text.replace('}', ' }') })
      .where('key', 'like', 'key:%\nagain')
      .execute()

    const second = await send('again', score('a'))

    expect(second.status).toBe(first.status)
    expect(await second.text()).toBe(text.replace('}', ' }'))
    expect(second.headers.get('content-type')).toBe('application/json')
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  })

  it('says of a repeat that it is one, and which request was carried out', async () => {
    const first = await send('said', score('a'))
    const second = await send('said', score('a'))

    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect(first.headers.get('idempotency-first-request-id')).toBeNull()
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.headers.get('idempotency-first-request-id')).toBe(
      first.headers.get('x-request-id'),
    )
  })

  it('409 for another body, another path, another spelling of the same body', async () => {
    await send('mismatch', score('a'))

    for (const answer of [
      await send('mismatch', score('b')),
      await send('mismatch', { content: 'a' }, '/v1/guard'),
      await send('mismatch', { results: score('a').results, scorer: 'exact_match' }),
    ]) {
      expect((await problemOf(answer)).code).toBe('idempotency_mismatch')
    }
  })

  it('is of the caller: another key that chose the same one is neither blocked nor answered', async () => {
    const [own, other] = [await remit.key(orgId, 'ingest'), await remit.key(orgId, 'ingest')]
    const first = await send('mine', score('a'), '/v1/scorers', own)

    const foreign = await send('mine', score('b'), '/v1/scorers', other)

    expect(foreign.status).toBe(200)
    expect(await kept('mine')).toHaveLength(2)
    const again = await send('mine', score('a'), '/v1/scorers', own)
    expect(await again.text()).toBe(await first.text())
  })

  it('does not keep a request that failed', async () => {
    const unknown = { ...score('a'), scorer: 'no_such_scorer' }
    expect((await problemOf(await send('failed', unknown))).code).toBe('scorer_not_found')
    expect((await problemOf(await send('failed', {}))).code).toBe('invalid_request')

    expect(await kept('failed')).toEqual([])
    expect((await send('failed', score('a'))).status).toBe(200)
  })

  it('is of an organization: another one may use the same key', async () => {
    const other = await remit.organization()
    await send('shared', score('a'))

    const answer = await send('shared', score('b'), '/v1/scorers', other.key)

    expect(answer.status).toBe(200)
    expect(await kept('shared')).toHaveLength(2)
  })

  it('ends after 24 hours, and then holds the new answer', async () => {
    const day = 24 * 60 * 60 * 1000
    await send('day', score('a'))
    clock.advance(day - 1)
    expect((await problemOf(await send('day', score('b')))).code).toBe('idempotency_mismatch')

    clock.advance(1)

    expect((await send('day', score('b'))).status).toBe(200)
    expect((await problemOf(await send('day', score('a')))).code).toBe('idempotency_mismatch')
  })

  it.each([
    ['one character', 'x'],
    ['255 characters', 'x'.repeat(255)],
    ['blanks and punctuation', 'a b "c" {d} ~'],
  ])('may be %s', async (_, name) => {
    expect((await send(name, score('a'))).status).toBe(200)
  })

  it.each([
    ['empty', ''],
    ['256 characters', 'x'.repeat(256)],
    ['with a tab', 'a\tb'],
    ['not ASCII', 'ä'],
  ])('400 when it is %s', async (_, name) => {
    expect((await problemOf(await send(name, score('a')))).code).toBe('invalid_idempotency_key')
  })

  it('means nothing on a GET', async () => {
    const headers = { 'idempotency-key': 'on-get' }

    expect((await remit.call('GET', '/v1/scorers', { key, headers })).status).toBe(200)
    expect(await kept('on-get')).toEqual([])
  })
})

describe('Idempotency-Key of a request that still runs', () => {
  it('409 for its caller, until the first one is answered; another caller does not wait', async () => {
    const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()]
    let calls = 0
    const handle = () => {
      if (++calls > 1) throw fail('decision_not_found')
      entered.resolve()
      return gate.promise
    }
    const gated = {
      name: 'gated',
      setup: () => ({ routes: implement(authorize, { authorize: handle }) }),
    }
    const remit = await createTestRemit({ modules: [gated] })
    const { key, id } = await remit.organization()
    const another = await remit.key(id, 'ingest')
    const send = (action: string, as = key) =>
      remit.call('POST', '/v1/authorize', {
        key: as,
        body: { agent_id: 'a', action },
        headers: { 'idempotency-key': 'slow' },
      })

    const first = send('a.b')
    await entered.promise
    const [same, other, foreign] = [
      await problemOf(await send('a.b')),
      await problemOf(await send('c.d')),
      await problemOf(await send('c.d', another)),
    ]
    gate.reject(fail('decision_settled'))

    expect(same.code).toBe('idempotency_in_progress')
    expect(other.code).toBe('idempotency_mismatch')
    expect(foreign.code).toBe('decision_not_found')
    expect((await problemOf(await first)).code).toBe('decision_settled')
    expect((await problemOf(await send('c.d'))).code).toBe('decision_not_found')
    await remit.close()
  })
})
