import { hashKey } from '@remit/core/keys'
import { DIALECTS } from '@remit/testing'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AUDIENCE, createFederation, JWT } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'

for (const dialect of DIALECTS) {
  describe(`token exchange on ${dialect}`, () => {
    let f: Federation
    let log = ''
    beforeAll(async () => {
      const stream = { write: (line: string) => void (log += line) }
      f = await createFederation({ dialect, log: pino({ level: 'trace' }, stream) })
      await f.agent('agent-a', { allowed_scopes: ['authorize', 'guard', 'scorers'] })
    })
    afterAll(() => f.remit.close())
    // Credentials of the test before have ended.
    beforeEach(() => f.clock.advance(900_000))

    it('gives a credential that the agent can call with, and records both', async () => {
      const answer = await f.exchanged(f.token())
      expect(answer).toEqual({
        access_token: expect.stringMatching(/^rmf_[0-9A-Za-z]{65}$/),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: 300,
        scope: 'authorize guard',
        credential_id: expect.stringMatching(/^cred_/),
        agent_id: 'agent-a',
      })
      const used = await f.post('/v1/guard', { content: 'hello' }, answer.access_token)
      expect(used.status).toBe(200)
      const [exchanged] = await f.entries('token.exchanged')
      expect(exchanged).toMatchObject({
        agent_id: 'agent-a',
        data: { idp_id: f.idp, subject: 'workload-1', credential_id: answer.credential_id },
      })
      const [issued] = await f.entries('credential.issued')
      expect(issued?.data).toMatchObject({
        credential: { id: answer.credential_id, source: 'exchange', idp_id: f.idp },
      })
    })

    it('takes a form as well, and is not to be stored', async () => {
      const body = new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: f.token(),
        subject_token_type: JWT,
        scope: 'guard',
        resource: AUDIENCE,
        unknown_to_us: 'ignored',
      }).toString()
      const response = await f.remit.call('POST', '/v1/identity/token', {
        key: f.org.key,
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      expect(response.status).toBe(200)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(await response.json()).toMatchObject({ scope: 'guard' })
    })

    it('never lives longer than the subject token, the record or the agent allow', async () => {
      const now = Math.floor(f.clock.now() / 1000)
      expect((await f.exchanged(f.token({ exp: now + 45 }))).expires_in).toBe(45)
      expect((await f.exchanged(f.token({ exp: now + 3000 }))).expires_in).toBe(900)
      await f.agent('brief', { max_credential_ttl_seconds: 60 })
      expect((await f.exchanged(f.token({ agent: 'brief' }))).expires_in).toBe(60)
    })

    it('ends with its token: a call after that is refused', async () => {
      const now = Math.floor(f.clock.now() / 1000)
      const { access_token: bearer } = await f.exchanged(f.token({ exp: now + 40 }))
      expect((await f.post('/v1/guard', { content: 'x' }, bearer)).status).toBe(200)
      f.clock.advance(40_000)
      expect((await f.post('/v1/guard', { content: 'x' }, bearer)).status).toBe(401)
    })

    it.each([
      [{ scope: 'guard scorers' }, 'invalid_scope'],
      [{ scope: 'ledger:append' }, 'invalid_scope'],
      [{ scope: 'policies:write' }, 'invalid_scope'],
      [{ audience: 'https://other.example' }, 'invalid_target'],
      [{ resource: 'https://other.example' }, 'invalid_target'],
      [{ agent_id: 'brief' }, 'invalid_grant'],
      [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
      [{ subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' }, 'invalid_request'],
      [{ requested_token_type: JWT }, 'invalid_request'],
      [{ actor_token: 'x' }, 'invalid_request'],
      [{ subject_token: undefined }, 'invalid_request'],
      [{ scope: 7 }, 'invalid_request'],
    ])('refuses %j as %s, and the token can still be used', async (change, error) => {
      const token = f.token()
      const response = await f.exchange(token, change)
      expect(response.status).toBe(400)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(await response.json()).toMatchObject({ error, code: error, status: 400 })
      await f.exchanged(token)
    })

    it('refuses a form with a duplicate field', async () => {
      const token = f.token()
      const response = await f.remit.call('POST', '/v1/identity/token', {
        key: f.org.key,
        body: `grant_type=a&subject_token=${token}&subject_token=${token}&subject_token_type=b`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: 'invalid_request' })
    })

    it('stops where an agent has as many live credentials as it can have', async () => {
      await f.agent('busy')
      for (let i = 0; i < 10; i++) await f.exchanged(f.token({ agent: 'busy' }))
      const response = await f.exchange(f.token({ agent: 'busy' }))
      expect(response.status).toBe(429)
      expect((await f.entries('token.refused'))[0]?.reason).toBe('limit')
    })

    it('is not for credentials, wrong keys and larger bodies', async () => {
      const { access_token: bearer } = await f.exchanged(f.token())
      const asAgent = await f.post('/v1/identity/token', {}, bearer)
      expect(asAgent.status).toBe(403)
      expect(await asAgent.json()).toMatchObject({
        error: 'unauthorized_client',
        code: 'principal_not_allowed',
      })
      const stranger = await f.post('/v1/identity/token', {}, 'rmk_wrong')
      expect(stranger.status).toBe(401)
      expect(await stranger.json()).toMatchObject({ error: 'invalid_client' })
      const nobody = await f.remit.call('POST', '/v1/identity/token', {
        body: { grant_type: 'x', subject_token: 'a.b.c', subject_token_type: JWT },
      })
      expect(nobody.status).toBe(401)
      expect(await nobody.json()).toMatchObject({ error: 'invalid_client' })
      const large = await f.exchange('x'.repeat(33_000))
      expect(large.status).toBe(413)
      expect(await large.json()).toMatchObject({ error: 'invalid_request' })
    })

    it('stops when the issuer is removed, and so do the credentials of its tokens', async () => {
      const { id } = await f.ok<{ id: string }>('/v1/identity/idp', {
        issuer: 'https://second.example',
        jwks: { type: 'inline', keys: [f.key.jwk] },
        agent: { type: 'subjects' },
      })
      const subjects = [{ idp_id: id, subject: 'job-7' }]
      await f.agent('job', { federation: { issuers: [], subjects } })
      const claims = { iss: 'https://second.example', sub: 'job-7', agent: undefined }
      const { access_token: bearer, agent_id } = await f.exchanged(f.token(claims))
      expect(agent_id).toBe('job')
      const removed = await f.remit.call('DELETE', `/v1/identity/idp/${id}`, { key: f.org.key })
      expect(removed.status).toBe(204)
      expect((await f.post('/v1/guard', { content: 'x' }, bearer)).status).toBe(401)
      expect((await f.exchange(f.token(claims))).status).toBe(400)
      const [entry] = await f.entries('issuer.removed')
      expect(entry?.data['revoked_credentials']).toHaveLength(1)
    })

    it('keeps neither the subject token nor the secret in any table, log, metric or answer', async () => {
      const token = f.token()
      const refused = f.token({ env: 'test' })
      const { access_token: secret } = await f.exchanged(token)
      const answers = [await f.exchange(token), await f.exchange(refused)]
      for (const path of ['/v1/identity/idp', '/v1/identity/agents', '/metrics'])
        answers.push(await f.remit.call('GET', path, { key: f.org.key }))

      const tables = await f.remit.db.introspection.getTables()
      const rows = await Promise.all(
        tables.map(({ name, columns }) => {
          // On a cluster, a statement names the organization; there is one only.
          const id = name === 'organization' ? 'id' : 'org_id'
          const isOwned = columns.some((column) => column.name === id)
          const where = isOwned ? sql`where ${sql.ref(id)} = ${f.org.id}` : sql``
          return sql`select * from ${sql.table(name)} ${where}`.execute(f.remit.db)
        }),
      )
      const database = JSON.stringify(rows.map((result) => result.rows))
      const texts = await Promise.all(answers.map((answer) => answer.text()))
      const everything = [database, log, ...texts].join('\n')
      expect(database).toContain(hashKey(secret))
      expect(log).toContain('exchangeToken')
      expect(everything).not.toContain(secret)
      for (const piece of [...token.split('.'), ...refused.split('.')])
        expect(everything).not.toContain(piece)
    })
  })
}
