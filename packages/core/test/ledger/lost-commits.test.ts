import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/open.ts'
import type { CoreTables } from '../../src/db/schema.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { OPERATOR } from '../../src/orgs/administration.ts'
import { SYSTEM } from '../../src/caller/caller.ts'
import { createDatabase, createTestRemit, handMade, openPatiently } from '@remit/testing'
import type { TestDatabase, TestRemit } from '@remit/testing'
import { startCommitProxy } from '../support/commit-proxy.ts'
import type { CommitProxy } from '../support/commit-proxy.ts'
import { append, decisionDraft } from '../support/drafts.ts'

describe('a COMMIT on its way to PostgreSQL', () => {
  let database: TestDatabase
  let proxy: CommitProxy
  let remit: TestRemit
  /** Sees what is committed, past the proxy. */
  let direct: Database<CoreTables>
  let orgId: string
  beforeAll(async () => {
    database = await createDatabase('postgres')
    proxy = await startCommitProxy(database.url)
    remit = await createTestRemit({ url: proxy.url })
    direct = openPatiently<CoreTables>(database.url)
    orgId = (await remit.organization()).id
  })
  afterAll(async () => {
    await remit.close()
    await proxy.close()
    await direct.destroy()
    await database.drop()
  })

  const hashAt = async (seq: number): Promise<string | undefined> => {
    const row = await direct
      .selectFrom('ledger_entry')
      .select('hash')
      .where('org_id', '=', orgId)
      .where('seq', '=', seq)
      .executeTakeFirst()
    return row?.hash
  }
  const head = () =>
    direct
      .selectFrom('ledger_head')
      .select(['size', 'config_version'])
      .where('org_id', '=', orgId)
      .executeTakeFirstOrThrow()
  /** Three callers whose entries share a commit; each gets a receipt or an error. */
  const three = () =>
    Promise.allSettled([1, 2, 3].map((n) => append(remit, orgId, [decisionDraft(n)])))
  const expectSound = async (size: number) => {
    expect(await verifyDatabase(direct, orgId)).toMatchObject({
      status: 'ok',
      checked: { entries: size },
    })
  }

  test('nobody is answered before it is carried out', async () => {
    const { size } = await head()
    const held = proxy.next('held')
    let isAnswered = false
    const answer = append(remit, orgId, [decisionDraft(1)]).finally(() => {
      isAnswered = true
    })

    await held
    expect(await hashAt(size)).toBeUndefined()
    expect(isAnswered).toBe(false)
    proxy.release()

    const [receipt] = await answer
    expect(await hashAt(size)).toBe(receipt?.hash)
  })

  test.each(['carried out', 'denied'] as const)(
    '%s, but not confirmed: everyone is answered from what the chain says',
    async (fate) => {
      const { size } = await head()
      const happened = proxy.next(fate)

      const answers = await three()

      await happened
      for (const [n, answer] of answers.entries()) {
        const hash = await hashAt(size + n)
        expect(answer).toMatchObject({ status: 'fulfilled', value: [{ seq: size + n, hash }] })
      }
      await expectSound(size + 3)
    },
  )

  test('lost: everyone is told that nothing happened, and nothing has', async () => {
    const { size } = await head()
    const happened = proxy.next('lost')

    const answers = await three()

    await happened
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 'rejected',
        reason: { code: 'ledger_unavailable', status: 503 },
      })
    }
    await expectSound(size)
    await append(remit, orgId, [decisionDraft(4)])
    await expectSound(size + 1)
  })

  test('cut off at once: whatever became of it, the answer agrees with the chain', async () => {
    const { size } = await head()
    const happened = proxy.next('cut')

    const answers = await three()

    await happened
    const grown = (await head()).size - size
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(grown)
    expect([0, 3]).toContain(grown)
    await expectSound(size + grown)
  })

  test('a change whose COMMIT is lost has not happened, one that is only not confirmed has', async () => {
    const before = await head()
    const change = (name: string) =>
      remit.writer.change(orgId, OPERATOR, async ({ tx }) => {
        await tx.updateTable('organization').set({ name }).where('id', '=', orgId).execute()
        return {
          entries: [handMade({ kind: 'test.renamed', actor: SYSTEM, data: { name } })],
          reply: () => name,
        }
      })
    const name = async () =>
      (await direct.selectFrom('organization').select('name').executeTakeFirstOrThrow()).name

    const lost = proxy.next('lost')
    await expect(change('lost')).rejects.toMatchObject({ code: 'ledger_unavailable' })
    await lost
    expect(await name()).not.toBe('lost')
    expect(await head()).toEqual(before)

    const kept = proxy.next('carried out')
    await expect(change('kept')).resolves.toBe('kept')
    await kept
    expect(await name()).toBe('kept')
    expect(await head()).toEqual({
      size: before.size + 1,
      config_version: before.config_version + 1,
    })
  })

  test.each(['lost', 'carried out'] as const)(
    'of a new organization, %s: the operator is told that it is not known',
    async (fate) => {
      const happened = proxy.next(fate)

      await expect(remit.organization()).rejects.toMatchObject({
        code: 'outcome_unknown',
        status: 503,
      })

      await happened
    },
  )

  test('not to be found out about: nobody is told that nothing happened', async () => {
    const other = await startCommitProxy(database.url)
    const second = await createTestRemit({ url: other.url, signingKey: remit.signingKey })
    const { size } = await head()
    const happened = other.next('carried out').then(() => other.unplug())

    await expect(append(second, orgId, [decisionDraft(1)])).rejects.toMatchObject({
      code: 'outcome_unknown',
      status: 503,
    })

    await happened
    expect(await hashAt(size)).toBeDefined()
    await second.close()
  })
})
