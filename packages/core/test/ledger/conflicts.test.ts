import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { SYSTEM } from '../../src/caller/caller.ts'
import { OPERATOR } from '../../src/orgs/administration.ts'
import { listOrganizations } from '../../src/orgs/organizations.ts'
import { createTestRemit, handMade } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { append, decisionDraft } from '../support/drafts.ts'

/** Every third time; a sequence counts what is rolled back too. */
const failing = (code: string, every: number) => `
  create sequence turn;
  create function fail() returns trigger language plpgsql as $$ begin
    if nextval('turn') % ${every} = 0 then
      raise exception 'injected' using errcode = '${code}';
    end if;
    return null;
  end $$;`
/** A deferred trigger fires when COMMIT is carried out. */
const AT_COMMIT = `create constraint trigger fail after update on ledger_head
  deferrable initially deferred for each row execute function fail()`
const AT_INSERT = `create trigger fail after insert on ledger_entry
  for each statement execute function fail()`

describe('a transaction that PostgreSQL rolls back in favour of another', () => {
  let remit: TestRemit
  let orgId: string
  beforeEach(async () => {
    remit = await createTestRemit({ dialect: 'postgres', maxBatch: 2 })
    orgId = (await remit.organization()).id
  })
  afterEach(() => remit.close())

  const size = async () => (await remit.ledger.head(orgId)).size
  const inject = (code: string, trigger: string, every = 3) =>
    sql.raw(`${failing(code, every)} ${trigger}`).execute(remit.db)

  test.each([
    ['40001', 'the commit', AT_COMMIT],
    ['40P01', 'the commit', AT_COMMIT],
    ['40001', 'a statement', AT_INSERT],
    ['40P01', 'a statement', AT_INSERT],
  ])('%s at every third of %s: everybody is answered, nothing twice', async (code, _, trigger) => {
    const before = await size()
    await inject(code, trigger)

    const receipts = await Promise.all(
      Array.from({ length: 90 }, (__, n) => append(remit, orgId, [decisionDraft(n)])),
    )

    expect(new Set(receipts.map(([receipt]) => receipt?.seq)).size).toBe(90)
    expect(await size()).toBe(before + 90)
    expect(await verifyDatabase(remit.db, orgId)).toMatchObject({ status: 'ok' })
  })

  test('a change is made once, with one entry and one version', async () => {
    const { config_version: version } = await remit.ledger.head(orgId)
    const before = await size()
    await inject('40001', AT_COMMIT, 2)

    for (let n = 1; n <= 6; n++)
      await remit.writer.change(orgId, OPERATOR, () =>
        Promise.resolve({
          entries: [handMade({ kind: 'test.changed', actor: SYSTEM, data: { n } })],
          reply: () => n,
        }),
      )

    expect(await remit.ledger.head(orgId)).toMatchObject({
      size: before + 6,
      config_version: version + 6,
    })
  })

  test.each([
    ['the commit', AT_COMMIT],
    ['a statement', AT_INSERT],
  ])('an organization is created once, though %s was rolled back', async (_, trigger) => {
    await inject('40001', trigger, 2)

    const made = [await remit.organization(), await remit.organization()]

    for (const { id } of made)
      expect(await verifyDatabase(remit.db, id)).toMatchObject({ status: 'ok' })
    expect(await listOrganizations(remit.db)).toHaveLength(3)
  })

  test('one that never succeeds is 503, and nothing happened', async () => {
    const before = await size()
    await inject('40001', AT_COMMIT, 1)

    await expect(append(remit, orgId, [decisionDraft(1)])).rejects.toMatchObject({
      code: 'ledger_unavailable',
      status: 503,
    })

    expect(await size()).toBe(before)
  })
})
