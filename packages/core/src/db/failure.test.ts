import { describe, expect, it } from 'vitest'
import { isUnavailable, unavailable } from './failure.ts'

const coded = (code: string, message = 'failed') => Object.assign(new Error(message), { code })

describe('isUnavailable', () => {
  it.each([
    ['a refused connection', coded('ECONNREFUSED')],
    ['a connection that was cut', coded('ECONNRESET')],
    ['a name that cannot be resolved now', coded('EAI_AGAIN')],
    ['a network without a route', coded('ENETUNREACH')],
    ['a server that shuts down', coded('57P01')],
    ['too many connections', coded('53300')],
    ['a full disk', coded('53100')],
    [
      'a prepared statement that a migration made stale',
      Object.assign(coded('0A000'), { routine: 'RevalidateCachedQuery' }),
    ],
    ['a lock that was not given in time', coded('55P03')],
    ['a deadlock', coded('40P01')],
    ['a transaction that cannot be serialized', coded('40001')],
    ['a statement that took too long', coded('57014')],
    ['a server that only reads now', coded('25006')],
    ['a busy SQLite', coded('SQLITE_BUSY')],
    ['a full SQLite', coded('SQLITE_FULL')],
    ['a read-only SQLite', coded('SQLITE_READONLY')],
    ['a connection that ended', new Error('Connection terminated unexpectedly')],
    ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
    [
      'all addresses of a host',
      new AggregateError([coded('X'), coded('ECONNREFUSED')], 'all failed'),
    ],
  ])('%s', (_, error) => {
    expect(isUnavailable(error)).toBe(true)
  })

  it.each([
    ['a missing table', coded('42P01', 'relation "spend_total" does not exist')],
    ['a missing table of SQLite', coded('SQLITE_ERROR', 'no such table: spend_total')],
    ['a broken rule', coded('23505', 'duplicate key value')],
    ['a number out of range', coded('22003')],
    ['a mistake of ours', new TypeError('x is not a function')],
    ['what is no error', 'ECONNREFUSED'],
    ['a code that is no text', Object.assign(new Error('failed'), { code: 53 })],
    ['nothing of several', new AggregateError([new Error('a'), new Error('b')])],
  ])('not %s', (_, error) => {
    expect(isUnavailable(error)).toBe(false)
  })
})

describe('unavailable', () => {
  it('is a 503 that says when to come back', () => {
    expect(unavailable('ledger_unavailable')).toMatchObject({
      code: 'ledger_unavailable',
      status: 503,
      extras: { headers: { 'Retry-After': '1' } },
    })
  })
})
