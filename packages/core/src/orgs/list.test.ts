import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { citusNodes, createTestRemit, fullDialects, runStatement } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { systemClock } from '../base/clock.ts'
import { suspendOrganization } from './administration.ts'
import { deleteOrganization, scheduleDeletion } from './deletion.ts'
import { listOrganizations, organizationPage } from './organizations.ts'

const COUNT = 12

describe.each(fullDialects())('the list of organizations on %s', (dialect) => {
  let remit: TestRemit
  let ids: string[]
  beforeEach(async () => {
    remit = await createTestRemit({ dialect })
    ids = []
    for (let i = 0; i < COUNT; i++) ids.push((await remit.organization()).id)
    // Organizations of the same millisecond have no order of their own.
    ids.sort()
  })
  afterEach(() => remit.close())

  const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)

  it.each([1, 5, COUNT - 1, COUNT, COUNT + 1])(
    'has every organization once, in pages of %d',
    async (limit) => {
      const found: string[] = []
      for (let after: string | null = ''; after !== null;) {
        const { rows, next }: Awaited<ReturnType<typeof organizationPage>> = await organizationPage(
          remit.db,
          limit,
          after,
        )
        expect(rows.length).toBeGreaterThan(0)
        expect(rows.length).toBeLessThanOrEqual(limit)
        found.push(...idsOf(rows))
        after = next
      }
      expect(found).toEqual(ids)
    },
  )

  it('a page reads no other organization than its own', async () => {
    const execute = vi.spyOn(remit.db.getExecutor(), 'executeQuery')
    const { rows } = await organizationPage(remit.db, 3, ids[4])
    const answers = await Promise.all(execute.mock.results.map(({ value }) => value))
    execute.mockRestore()

    expect(idsOf(rows)).toEqual(ids.slice(5, 8))
    // The ids, one of which tells that a next page exists, and the rows.
    const read = answers.flatMap((answer) => answer?.rows ?? [])
    expect(read).toHaveLength(4 + 3)
  })

  it('continues after an organization that was deleted meanwhile', async () => {
    const { next } = await organizationPage(remit.db, 3)
    const gone = next ?? ''
    await suspendOrganization(remit.writer, gone)
    await scheduleDeletion(remit.writer, gone, 0)
    await deleteOrganization({ ...remit, clock: systemClock }, gone)

    expect(idsOf((await organizationPage(remit.db, 2, gone)).rows)).toEqual(ids.slice(3, 5))
  })

  it('has the decisions of an organization, and none without a ledger', async () => {
    const [first = '', second = ''] = ids
    await remit.db
      .updateTable('ledger_head')
      .set({ decided: 7, decided_month: '2026-11' })
      .where('org_id', '=', first)
      .execute()
    await remit.db.deleteFrom('ledger_head').where('org_id', '=', second).execute()

    expect((await organizationPage(remit.db, 2)).rows).toMatchObject([
      { id: first, decided: 7, decided_month: '2026-11' },
      { id: second, decided: null, decided_month: null },
    ])
  })

  it('is the same as a whole', async () => {
    expect(idsOf(await listOrganizations(remit.db))).toEqual(ids)
  })

  it.runIf(citusNodes().length > 0)('goes on beside a deletion that was interrupted', async () => {
    const gone = `${ids[0]}0`
    const named = `insert into directory_organization values ('${gone}', 'gone')`
    await runStatement(remit.url, named)

    const { rows, next } = await organizationPage(remit.db, 2)

    expect([idsOf(rows), next]).toEqual([[ids[0]], gone])
  })
})
