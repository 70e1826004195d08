import { createSecretKey, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { on } from '@remit/core/db'
import { createOutbound } from '@remit/core/net'
import { SECRETS_KEY_BYTES, secretsKeyId } from '@remit/core/secrets'
import { createTestRemit, someDialects } from '@remit/testing'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import governance from '../../src/index.ts'
import type { Tables } from '../../src/tables/schema.ts'
import { apiOf } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { dump } from '../support/dump.ts'
import { startReceiver, verified } from '../support/receiver.ts'
import {
  askDenied,
  createWebhookApi,
  denyAll,
  eventually,
  withoutWorkers,
} from '../support/webhooks.ts'

const newKey = () => createSecretKey(randomBytes(SECRETS_KEY_BYTES))
const TOKEN = '?token=hunter2'

describe.each(someDialects())('secrets of webhooks on %s', (dialect) => {
  const old = newKey()
  let first: Api
  const others: Api[] = []
  beforeEach(async () => {
    first = await createWebhookApi({ dialect, secretsKeys: [old], modules: [withoutWorkers] })
    await denyAll(first)
  })
  afterEach(async () => {
    for (const { remit } of others.splice(0)) await remit.close()
    await first.remit.close()
  })

  /** Another process of the installation, with these keys. */
  async function start(...secretsKeys: KeyObject[]): Promise<Api> {
    const { url, signingKey } = first.remit
    const outbound = createOutbound({ allowLoopback: true })
    const options = { modules: [governance], url, signingKey, outbound, secretsKeys }
    const api = apiOf(await createTestRemit(options), first.org)
    others.push(api)
    return api
  }

  const rows = () => on<Tables>(first.remit.db).selectFrom('webhook').selectAll().execute()
  const keysInUse = async () => new Set((await rows()).map(({ secret }) => secret.split('.')[1]))

  it('are nowhere in the database, and neither is the query of the URL', async () => {
    const { secret, url } = await first.ok('createWebhook', {
      body: { url: `https://hooks.example.com/remit${TOKEN}` },
    })

    expect(url).toBe(`https://hooks.example.com/remit${TOKEN}`)
    const everything = JSON.stringify(await dump(first.remit.db, first.org.id))
    expect(everything).toContain('https://hooks.example.com/remit')
    expect(everything).not.toContain(secret)
    expect(everything).not.toContain('hunter2')
  })

  it('are not in the answer kept for an Idempotency-Key, and a repeat has the whole URL', async () => {
    const create = () =>
      first.call('createWebhook', {
        body: { url: `https://hooks.example.com/remit${TOKEN}` },
        headers: { 'idempotency-key': 'one' },
      })
    const created = (await (await create()).json()) as object
    const everything = JSON.stringify(
      await first.remit.db.selectFrom('idempotency_key').selectAll().execute(),
    )
    expect(everything).toContain('webhooks')
    expect(everything).not.toContain('hunter2')

    const again = await create()
    expect(again.status).toBe(201)
    expect(await again.json()).toEqual({ ...created, secret: null, secret_available: false })

    const other = await start(newKey())
    const unreadable = await other.refusal('createWebhook', {
      body: { url: `https://hooks.example.com/remit${TOKEN}` },
      headers: { 'idempotency-key': 'one' },
    })
    expect(unreadable.code).toBe('answer_erased')
  })

  it('that an older version stored in plain text sign, and are encrypted at the next start', async () => {
    await using receiver = await startReceiver()
    const url = `${receiver.url}${TOKEN}`
    const { id, secret } = await first.ok('createWebhook', { body: { url } })
    const plain = { secret: secret ?? '', url }
    await start(old)
    await on<Tables>(first.remit.db).updateTable('webhook').set(plain).execute()

    await askDenied(first)
    const [message] = await receiver.until(1)
    expect(verified(secret, message!).type).toBe('authorization.denied')
    expect(message?.path).toContain(TOKEN)

    const next = await start(old)
    expect(await keysInUse()).toEqual(new Set([secretsKeyId(old)]))
    expect((await rows())[0]?.url).not.toContain('hunter2')
    expect((await next.ok('getWebhook', { params: { id } })).url).toBe(url)
    await askDenied(first)
    expect(verified(secret, (await receiver.until(2))[1]!).type).toBe('authorization.denied')
  })

  it.runIf(dialect === 'sqlite')(
    'that were in plain text are in no file of the database once encrypted',
    async () => {
      const { db, url: database } = first.remit
      const { secret } = await first.ok('createWebhook', {
        body: { url: `https://hooks.example.com/x${TOKEN}` },
      })
      const plain = { secret: secret ?? '', url: `https://hooks.example.com/x${TOKEN}` }
      await on<Tables>(db).updateTable('webhook').set(plain).execute()
      await sql`pragma wal_checkpoint(truncate)`.execute(db)
      const path = database.replace(/^sqlite:(\/\/)?/, '')
      const files = () => [path, `${path}-wal`].map((file) => readFileSync(file, 'latin1')).join('')
      expect(files()).toContain('hunter2')

      expect((await first.remit.reseal()).resealed).toBe(1)
      expect(files()).not.toContain('hunter2')
      expect(files()).not.toContain(secret)
    },
  )

  it('move to a new key while the old one is known, and then no longer need it', async () => {
    await using receiver = await startReceiver()
    const { secret } = await first.ok('createWebhook', { body: { url: receiver.url + TOKEN } })
    const added = newKey()

    await start(old, added)
    expect(await keysInUse()).toEqual(new Set([secretsKeyId(old)]))
    await start(added, old)
    expect(await keysInUse()).toEqual(new Set([secretsKeyId(added)]))

    for (const { remit } of others.splice(0)) await remit.close()
    const last = await start(added)
    expect(await last.remit.reseal()).toEqual({ resealed: 0, unreadable: 0, failed: [] })
    await askDenied(last)
    const [message] = await receiver.until(1)
    expect(verified(secret, message!).type).toBe('authorization.denied')
  })

  it('of more webhooks than one page are all encrypted again', async () => {
    const [row] = await rowsOfOne()
    const copies = Array.from({ length: 450 }, (_, i) => ({
      ...row!,
      id: `whk_${String(i).padStart(4, '0')}`,
      secret: 'whsec_AAAA',
    }))
    for (let i = 0; i < copies.length; i += 50)
      await on<Tables>(first.remit.db)
        .insertInto('webhook')
        .values(copies.slice(i, i + 50))
        .execute()

    expect(await first.remit.reseal()).toEqual({ resealed: 450, unreadable: 0, failed: [] })
    expect(await keysInUse()).toEqual(new Set([secretsKeyId(old)]))
  })

  it('that no key opens stay as they are: the message waits, and the webhook can be deleted', async () => {
    const body = { url: `https://hooks.example.com/x${TOKEN}` }
    const { id } = await first.ok('createWebhook', { body })
    await on<Tables>(first.remit.db)
      .updateTable('webhook')
      .set({
        secret: (await rows())[0]!.secret.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A')),
      })
      .execute()
    const before = await rows()

    expect(await first.remit.reseal()).toEqual({ resealed: 0, unreadable: 1, failed: [] })
    expect(await rows()).toEqual(before)
    await start(old)
    await askDenied(first)
    const seen = await eventually(async () => {
      const found = await first.ok('getWebhook', { params: { id } })
      return found.last_delivery?.error != null && found
    })
    expect(seen.last_delivery).toMatchObject({ status: 'retrying', error: 'secret_unreadable' })
    expect(seen.url).not.toContain('token')
    expect((await first.ok('listWebhooks')).data).toHaveLength(1)
    await first.ok('deleteWebhook', { params: { id } })
    expect(await rows()).toEqual([])
  })

  async function rowsOfOne() {
    await first.ok('createWebhook', { body: { url: 'https://hooks.example.com/remit' } })
    return rows()
  }
})
