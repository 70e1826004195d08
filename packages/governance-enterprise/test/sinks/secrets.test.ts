import { createSecretKey, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { on } from '@remit/core/db'
import { SECRETS_KEY_BYTES, secretsKeyId } from '@remit/core/secrets'
import { createTestRemit, fullDialects } from '@remit/testing'
import { expect, it } from 'vitest'
import governance from '../../src/index.ts'
import type { Tables } from '../../src/tables/schema.ts'
import { apiOf } from '../support/api.ts'
import { createSinkApi, loopback, startSinkReceiver } from '../support/sinks.ts'

const newKey = (): KeyObject => createSecretKey(randomBytes(SECRETS_KEY_BYTES))

it.each(fullDialects())(
  'secrets of sinks are encrypted under the newest key at the start, and a lost key stops the sink, on %s',
  async (dialect) => {
    await using receiver = await startSinkReceiver()
    const [old, next] = [newKey(), newKey()]
    const first = await createSinkApi({ dialect, secretsKeys: [old] })
    const target = { url: `${receiver.origin}/in`, headers: { authorization: 'Bearer t' } }
    const { id } = await first.ok('createSink', {
      body: { type: 'https', target, enabled: false },
    })
    const { url, signingKey, db } = first.remit
    const start = async (...secretsKeys: KeyObject[]) => {
      const options = { modules: [governance], url, signingKey, outbound: loopback, secretsKeys }
      return apiOf(await createTestRemit(options), first.org)
    }
    const keyIds = async () =>
      (await on<Tables>(db).selectFrom('sink').select('secret').execute()).map(
        ({ secret }) => secret.split('.')[1],
      )
    expect(await keyIds()).toEqual([secretsKeyId(old)])

    const second = await start(next, old)
    expect(await keyIds()).toEqual([secretsKeyId(next)])
    expect(await second.ok('testSink', { params: { id } })).toMatchObject({ delivered: true })
    expect(receiver.accepted[0]?.headers.authorization).toBe('Bearer t')

    const third = await start(newKey())
    expect(await third.ok('testSink', { params: { id } })).toMatchObject({
      delivered: false,
      error: { code: 'secret_unreadable' },
    })
    for (const { remit } of [third, second, first]) await remit.close()
  },
)
