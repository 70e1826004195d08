import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endKey, setPlan } from '../../src/orgs/administration.ts'
import { createTestRemit, fullDialects } from '@remit/testing'
import type { TestOrganization, TestRemit } from '@remit/testing'
import { authorizeModule } from '../support/authorize-module.ts'

/** Decides for ever, until the first answer that is no decision. */
async function decideUntilRefused(remit: TestRemit, { key }: TestOrganization): Promise<Response> {
  for (;;) {
    const response = await ask(remit, key)
    if (response.status !== 200) return response
  }
}

const ask = (remit: TestRemit, key: string): Promise<Response> =>
  remit.call('POST', '/v1/authorize', { key, body: { agent_id: 'agent-1', action: 'mail.send' } })

const idOf = (key: string): string => `key_${key.slice(4, 20)}`

describe.each(fullDialects())('two processes of one installation on %s', (dialect) => {
  let here: TestRemit
  let there: TestRemit
  beforeAll(async () => {
    here = await createTestRemit({ dialect, modules: [authorizeModule] })
    const { url, signingKey } = here
    there = await createTestRemit({ url, signingKey, modules: [authorizeModule] })
  })
  afterAll(async () => {
    await there.close()
    await here.close()
  })

  /** Sequence numbers of an organization's entries of one kind. */
  const seqsOf = async (orgId: string, kind: string) => {
    const rows = await here.db
      .selectFrom('ledger_entry')
      .select('seq')
      .where('org_id', '=', orgId)
      .where('kind', '=', kind)
      .orderBy('seq')
      .execute()
    return rows.map(({ seq }) => seq)
  }

  test('a key that one revoked decides nothing on the other from then on', async () => {
    const org = await here.organization()
    expect((await ask(there, org.key)).status).toBe(200)

    await endKey(here.writer, org.id, idOf(org.key))

    expect((await ask(there, org.key)).status).toBe(401)
    expect(await seqsOf(org.id, 'authorization.decided')).toHaveLength(1)
  })

  test('a key that is revoked in the midst of its requests has no decision after its end', async () => {
    const org = await here.organization()
    for (let nth = 0; nth < 5; nth++) await ask(there, org.key)
    const callers = Array.from({ length: 20 }, () => decideUntilRefused(there, org))
    await ask(there, org.key)

    await endKey(here.writer, org.id, idOf(org.key))

    for (const refused of await Promise.all(callers)) expect(refused.status).toBe(401)
    const decided = await seqsOf(org.id, 'authorization.decided')
    const [revoked = -1] = await seqsOf(org.id, 'key.revoked')
    expect(decided.length).toBeGreaterThan(5)
    expect(revoked).toBeGreaterThan(decided.at(-1) ?? Infinity)
  })

  test('a plan that was lowered on one decides nothing on the other that it no longer includes', async () => {
    const org = await here.organization('team')
    expect((await ask(there, org.key)).status).toBe(200)

    await setPlan(here.writer, org.id, 'free')

    expect((await ask(there, org.key)).status).toBe(403)
    expect(await seqsOf(org.id, 'authorization.decided')).toHaveLength(1)
  })

  test('a plan that was raised on one counts on the other, which remembers the caller before it', async () => {
    const org = await here.organization('free')
    expect((await ask(there, org.key)).status).toBe(403)

    await setPlan(here.writer, org.id, 'team')

    expect((await ask(there, org.key)).status).toBe(200)
  })
})
