import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDatabase } from '@remit/testing'
import type { TestDatabase } from '@remit/testing'
import { postgresSignals, CHANNEL } from './signals.ts'
import type { Signals } from './signals.ts'

describe('signals over PostgreSQL', () => {
  let database: TestDatabase
  let client: pg.Client
  let signals: Signals
  const errors: Error[] = []
  beforeAll(async () => {
    database = await createDatabase('postgres')
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
    signals = postgresSignals(database.url, { onError: (error) => errors.push(error) })
  })
  afterAll(async () => {
    await signals.close()
    await client.end()
    await database.drop()
  })

  const notify = (payload: string) => client.query('select pg_notify($1, $2)', [CHANNEL, payload])

  /** Sends until it is heard: the connection may not listen yet, and a signal that nobody hears is gone. */
  const heard = async (topic: string) => {
    const orgs: string[] = []
    const stop = signals.subscribe(topic, (orgId) => void orgs.push(orgId))
    await vi.waitFor(
      async () => {
        await notify(JSON.stringify({ topic, orgId: 'org_1' }))
        expect(orgs).toContain('org_1')
      },
      { timeout: 10_000, interval: 50 },
    )
    stop()
    return orgs
  }

  it('hear what another process tells when it commits', async () => {
    expect(new Set(await heard('first'))).toEqual(new Set(['org_1']))
  })

  it('tell their own process without the database', () => {
    const orgs: string[] = []
    const stop = signals.subscribe('own', (orgId) => void orgs.push(orgId))

    signals.emit({ topic: 'own', orgId: 'org_2' })
    stop()
    signals.emit({ topic: 'own', orgId: 'org_3' })

    expect(orgs).toEqual(['org_2'])
  })

  it('listen again after their connection broke', async () => {
    await heard('before')
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'remit-signals'
        and datname = current_database()`,
    )

    await heard('after')

    expect(errors.length).toBeGreaterThan(0)
  })

  it('pass over what is not a signal', async () => {
    for (const payload of ['', 'x', 'null', '[]', '{"topic":1,"orgId":2}']) await notify(payload)

    expect(await heard('still')).toContain('org_1')
  })

  it('close also while the database cannot be reached', async () => {
    const failed: Error[] = []
    const lost = postgresSignals('postgres://nobody@127.0.0.1:1/none', {
      onError: (error) => failed.push(error),
    })
    await vi.waitFor(() => expect(failed.length).toBeGreaterThan(0))

    await lost.close()
  })
})
