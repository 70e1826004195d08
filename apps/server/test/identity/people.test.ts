import { hash } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { on } from '@remit/core/db'
import { createKey } from '@remit/core/orgs'
import { createApi, readyReport, someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { hasModules, loadModules } from '../../src/boot/modules.ts'

const TRANSFER = { agent_id: 'payer', action: 'payments.transfer', context: { amount: 5000 } }

describe.skipIf(!hasModules()).each(someDialects())('people on %s', (dialect) => {
  let all: Api
  let api: Api
  beforeAll(async () => {
    all = await createApi({ dialect, modules: await loadModules() })
  })
  afterAll(() => all.remit.close())
  beforeEach(async () => {
    api = all.as(await all.remit.organization())
  })

  const invite = (email: string, role = 'approver') =>
    api.ok('invitePerson', { body: { email, role } })
  /** Makes a person active, as a first sign-in does. */
  const activate = (id: string) =>
    on<{ person: { org_id: string; id: string; status: string; subject: string; issuer: string } }>(
      all.remit.db,
    )
      .updateTable('person')
      .set({ status: 'active', issuer: 'https://issuer.test', subject: id })
      .where('id', '=', id)
      .execute()
  /** Calls the API with a session of a person. */
  const signedIn = async (id: string, role: string, email: string) => {
    const now = new Date().toISOString()
    const cookie = `${hash('sha256', id, 'base64url')}.${api.org.id}`
    await all.remit.db
      .insertInto('console_session')
      .values({
        hash: hash('sha256', cookie),
        org_id: api.org.id,
        key_id: null,
        person_id: id,
        role,
        email,
        name: null,
        created_at: now,
        seen_at: now,
      })
      .execute()
    const headers = { cookie: `__Host-remit_session=${cookie}`, 'sec-fetch-site': 'same-origin' }
    return (method: string, path: string, body?: unknown) =>
      all.remit.call(method, path, { headers, ...(body !== undefined && { body }) })
  }

  it('are invited, changed, listed and removed, each with an entry that has them whole', async () => {
    const person = await invite('ada@example.org')
    const { ledger: _, ...shown } = person
    expect(shown).toEqual({
      id: expect.stringMatching(/^per_/),
      email: 'ada@example.org',
      name: null,
      role: 'approver',
      status: 'invited',
      created_at: expect.any(String),
      last_login_at: null,
    })
    const params = { id: person.id }
    await api.ok('changePerson', { params, body: { role: 'read', name: 'Ada' } })
    await api.ok('changePerson', { params, body: { status: 'disabled' } })
    expect((await api.ok('changePerson', { params, body: { status: 'active' } })).status).toBe(
      'invited',
    )
    expect((await api.ok('listPeople')).data).toMatchObject([{ id: person.id, name: 'Ada' }])
    await api.ok('removePerson', { params })
    const { data } = await api.ok('listEntries', { query: { order: 'asc', after_seq: 2 } })
    expect(data.map(({ kind }) => kind)).toEqual([
      'person.invited',
      'person.updated',
      'person.disabled',
      'person.updated',
      'person.removed',
    ])
    expect(data[0]?.data).toEqual({ member: shown })
    expect((await api.refusal('removePerson', { params })).code).toBe('person_not_found')
  })

  it('have one address each, whatever its case, within an organization', async () => {
    await invite('ada@example.org')
    const twice = await api.refusal('invitePerson', {
      body: { email: 'ADA@Example.org', role: 'read' },
    })
    expect(twice.code).toBe('person_exists')
    const other = all.as(await all.remit.organization())
    await other.ok('invitePerson', { body: { email: 'ada@example.org', role: 'read' } })
    await invite('a_a@example.org')
  })

  it.each([
    { email: 'nobody', role: 'read' },
    { email: 'a@example.org', role: 'ingest' },
    { email: 'a@example.org' },
    { email: 'a@example.org', role: 'read', admin: true },
    { email: `${'a'.repeat(250)}@example.org`, role: 'read' },
    { email: 'a@example.org', role: 'read', name: '\u202e' },
  ])('%j is refused and names the field', async (body) => {
    const problem = await api.refusal('invitePerson', { body })
    expect([problem.code, problem.errors?.length]).toEqual(['invalid_request', 1])
  })

  it('of another organization do not exist', async () => {
    const { id } = await invite('ada@example.org')
    const other = all.as(await all.remit.organization())
    const body = { role: 'admin' }
    expect((await other.refusal('changePerson', { params: { id }, body })).status).toBe(404)
    expect((await other.refusal('removePerson', { params: { id } })).status).toBe(404)
    expect((await other.ok('listPeople')).data).toEqual([])
  })

  it('the last administrator, person or key, stays', async () => {
    const { id } = await invite('ada@example.org', 'admin')
    await activate(id)
    const call = await signedIn(id, 'admin', 'ada@example.org')
    await all.remit.db
      .updateTable('ingest_key')
      .set({ revoked_at: new Date().toISOString() })
      .where('org_id', '=', api.org.id)
      .execute()
    const change = (body: object) => call('PATCH', `/v1/people/${id}`, body)
    for (const response of [
      await change({ role: 'read' }),
      await change({ status: 'disabled' }),
      await call('DELETE', `/v1/people/${id}`),
    ])
      expect(((await response.json()) as { code: string }).code).toBe('last_admin')
    expect((await change({ name: 'Ada' })).status).toBe(200)
    await createKey(all.remit.writer, api.org.id, { role: 'admin' })
    expect((await call('DELETE', `/v1/people/${id}`)).status).toBe(204)
  })

  describe('one human is one vote', () => {
    const ask = async (context: object = {}) => {
      await api.ok('setApprovalRule', {
        params: { id: 'two' },
        body: { actions: ['payments.*'], required_approvals: 2 },
      })
      const body = { ...TRANSFER, context: { ...TRANSFER.context, ...context } }
      return (await api.ok('authorize', { body })).approval?.id ?? ''
    }
    const keyOf = async (person: string, role: 'approver' | 'ingest' = 'approver') =>
      (await createKey(all.remit.writer, api.org.id, { role, person })).secret
    const path = (id: string) => `/v1/approvals/${id}`
    const approve = { decision: 'approve' }

    it('a message goes to the active people who can vote, at their current address', async () => {
      const received: string[] = []
      const mail = new SMTPServer({
        authOptional: true,
        disabledCommands: ['STARTTLS'],
        onData(stream, { envelope }, done) {
          received.push(...envelope.rcptTo.map(({ address }) => address))
          stream.resume().on('end', () => done())
        },
      }).listen(0, '127.0.0.1')
      await once(mail, 'listening')
      const { port } = mail.address() as AddressInfo
      const smtp = { url: `smtp://127.0.0.1:${port}`, from: 'remit@example.org' }
      const modules = await loadModules()
      const other = await createApi({ dialect, modules, settings: { smtp } })
      try {
        const people = other.as(await other.remit.organization())
        for (const [email, role, status] of [
          ['ada@example.org', 'approver', 'active'],
          ['bob@example.org', 'admin', 'active'],
          ['owner@example.org', 'approver', 'active'],
          ['eve@example.org', 'read', 'active'],
          ['dan@example.org', 'approver', 'invited'],
          ['tom@example.org', 'approver', 'disabled'],
        ] as const) {
          const { id } = await people.ok('invitePerson', { body: { email, role } })
          await on<{ person: { id: string; status: string } }>(other.remit.db)
            .updateTable('person')
            .set({ status })
            .where('id', '=', id)
            .execute()
        }
        await people.ok('registerAgent', {
          body: { agent_id: 'payer', owners: [{ type: 'user', id: 'owner@example.org' }] },
        })
        await people.ok('setApprovalRule', {
          params: { id: 'all' },
          body: { actions: ['payments.*'] },
        })
        await people.ok('createWebhook', { body: { url: 'mailto:', format: 'email' } })
        await people.ok('authorize', { body: TRANSFER })
        await vi.waitUntil(() => received.length > 0, { timeout: 60_000 })

        expect(received.toSorted()).toEqual(['ada@example.org', 'bob@example.org'])
      } finally {
        await other.remit.close()
        mail.close()
      }
    })

    it('a session and a key with the same address are the same person, also after a change', async () => {
      const { id } = await invite('ada@example.org')
      await activate(id)
      const call = await signedIn(id, 'approver', 'ada@example.org')
      const request = await ask()
      const voted = await call('POST', `${path(request)}/decide`, approve)
      const { votes, status } = (await voted.json()) as { votes: object[]; status: string }
      expect([voted.status, status]).toEqual([200, 'pending'])
      expect(votes).toMatchObject([
        {
          approver: { type: 'person', id, email: 'ada@example.org', named: true },
          key_id: id,
        },
      ])
      const seen = await call('GET', path(request))
      expect(await seen.json()).toMatchObject({
        can_vote: false,
        why_not: 'You have voted to approve the request',
      })
      const params = { requestID: request }
      const key = await keyOf('ADA@example.org')
      const again = await api.ok('decideApproval', { params, body: approve, key })
      expect([again.status, again.votes.length]).toEqual(['pending', 1])
      const unnamed = await api.refusal('decideApproval', {
        params,
        body: { decision: 'reject', approver: 'ada@example.org' },
      })
      expect(unnamed.code).toBe('already_voted')
      const bob = await keyOf('bob@example.org')
      const done = await api.ok('decideApproval', { params, body: approve, key: bob })
      expect(done.status).toBe('approved')
    })

    it('a person cannot approve a request of their own key', async () => {
      const { id } = await invite('ada@example.org')
      await activate(id)
      const call = await signedIn(id, 'approver', 'ada@example.org')
      await ask()
      const key = await keyOf('Ada@example.org', 'ingest')
      const body = { ...TRANSFER, context: { own: true } }
      const { approval } = await api.ok('authorize', { body, key })
      const answer = await call('POST', `${path(approval?.id ?? '')}/decide`, approve)
      expect(((await answer.json()) as { code: string }).code).toBe('approver_not_eligible')
    })

    it('a report finds the requester who approved in a session, where a rule allows it', async () => {
      const { id } = await invite('ada@example.org')
      await activate(id)
      const call = await signedIn(id, 'approver', 'ada@example.org')
      const key = await keyOf('Ada@example.org', 'ingest')
      const rule = { actions: ['payments.*'], required_approvals: 1, prevent_self_approval: false }
      await api.ok('setApprovalRule', { params: { id: 'own' }, body: rule })
      const { approval } = await api.ok('authorize', { body: TRANSFER, key })
      expect((await call('POST', `${path(approval!.id)}/decide`, approve)).status).toBe(200)

      // The period ends before its last millisecond.
      await vi.waitFor(async () => {
        const to = new Date()
        const from = new Date(to.getTime() - 86_400_000)
        const { content } = await readyReport(api, { framework: 'soc2', from, to })
        const { value } = content.metrics.find((one) => one.id === 'M22')!
        expect(value).toMatchObject({ count: 1, requester: 1, asserted: 0 })
      }, 60_000)
    })
  })
})
