import { Writable } from 'node:stream'
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise, decide, issue, register } from './support.ts'

describe.skipIf(!hasModules()).each(someDialects())(
  'secrets of agents on %s are nowhere',
  (dialect) => {
    let api: Api
    let log = ''
    beforeAll(async () => {
      const stream = new Writable({
        write(chunk: Buffer, _encoding, done) {
          log += chunk.toString()
          done()
        },
      })
      api = await createEnterprise({ dialect, log: pino({ level: 'trace' }, stream) })
    })
    afterAll(() => api.remit.close())

    /** Every cell of every table. */
    async function database(): Promise<string> {
      const { db } = api.remit
      const tables = await db.introspection.getTables()
      const rows = await Promise.all(
        tables.map(({ name }) => sql`select * from ${sql.table(name)}`.execute(db)),
      )
      return JSON.stringify(rows.map((result) => result.rows))
    }

    it('no log, entry, metric, list, error, repeat or table has one, or the part of it that is secret', async () => {
      const answers: string[] = []
      const keep = async (response: Response) => {
        const text = await response.clone().text()
        answers.push(text, JSON.stringify([...response.headers]))
        return response
      }
      const params = { agentID: 'payer' }
      await register(api, 'payer')
      const headers = { 'idempotency-key': 'issue' }
      const body = { scopes: ['authorize', 'guard'] }
      const first = await api.call('issueCredential', { params, body, headers })
      const { credential, secret } = (await first.json()) as {
        credential: { id: string }
        secret: string
      }
      const rotated = await issue(api, 'payer', {
        scopes: undefined,
        rotate: { credential_id: credential.id, overlap_seconds: 60 },
      })
      const key = await api.ok('createKey', { body: { role: 'ingest', name: 'tool' } })
      const turned = await api.ok('rotateKey', { params: { id: key.key.id } })
      const secrets = [secret, rotated.secret, key.secret, turned.secret].map((text) => text ?? '')

      // Uses, refusals and questions of every kind.
      await keep(await api.call('issueCredential', { params, body, headers }))
      for (const text of secrets) {
        await decide(api, 'payer', text).catch(() => undefined)
        await keep(
          await api.call('authorize', { key: text, body: { agent_id: 'other', action: 'a' } }),
        )
        await keep(await api.call('listKeys', { key: text }))
        await keep(await api.call('checkContent', { key: text, body: { nonsense: 1 } }))
        await keep(await api.call('introspectCredential', { body: { token: text } }))
        await keep(await api.call('getAgent', { key: `${text}x`, params }))
      }
      await keep(await api.call('revokeByText', { body: { token: rotated.secret } }))
      await keep(
        await api.call('authorize', {
          key: rotated.secret,
          body: { agent_id: 'payer', action: 'a' },
        }),
      )
      for (const name of ['listAgents', 'listKeys', 'listEntries'] as const)
        await keep(await api.call(name, { query: { limit: 1000 } }))
      await keep(await api.call('listCredentials', { params }))
      await keep(await api.remit.call('GET', '/metrics'))
      await keep(await api.call('exportEntries'))

      const places = { log, answers: answers.join('\n'), database: await database() }
      for (const [place, text] of Object.entries(places)) {
        for (const one of secrets) {
          expect(one).toMatch(/^rm[kc]_/)
          expect(text.includes(one.slice(20, 63)), place).toBe(false)
          expect(text.includes(one.slice(20, 36)), place).toBe(false)
        }
        // Hashes stay in the database.
        const hashes = secrets.map((one) => hash('sha256', one))
        const shown = hashes.filter((one) => text.includes(one))
        expect(shown, place).toHaveLength(place === 'database' ? secrets.length : 0)
      }
      expect(places.log).toContain('"request_id"')
      expect(places.answers).toContain(credential.id)
    })
  },
)
