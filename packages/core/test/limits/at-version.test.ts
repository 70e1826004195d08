import { createTestRemit, someDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findHead } from '../../src/ledger/store/store.ts'
import { OrganizationVersions } from '../../src/limits/at-version.ts'
import { createKey, setSettings } from '../../src/exports/orgs.ts'
import type { LedgerHeadRow } from '../../src/db/schema.ts'

describe.each(someDialects())('the parts between two versions on %s', (dialect) => {
  let remit: TestRemit
  let id: string
  beforeAll(async () => {
    remit = await createTestRemit({ dialect })
    id = (await remit.organization()).id
  })
  afterAll(() => remit.close())

  const head = async (): Promise<LedgerHeadRow> => (await findHead(remit.db, id))!
  /** The parts after a process has read the first head and then the second one. */
  async function parts(first: LedgerHeadRow, second: LedgerHeadRow) {
    const versions = new OrganizationVersions()
    await versions.at(remit.db, first)
    await versions.at(remit.db, second)
    return versions.partsBetween(id, first.config_version, second.config_version)
  }
  async function twoHeads(change: () => Promise<unknown>) {
    const first = await head()
    await change()
    return [first, await head()] as const
  }
  const addKey = () => createKey(remit.writer, id, { role: 'read' })

  it('are those of the kinds of the entries', async () => {
    const [first, second] = await twoHeads(addKey)

    expect(await parts(first, second)).toEqual(new Set())
  })

  it('are all after a change of the organization', async () => {
    const [first, second] = await twoHeads(() =>
      setSettings(remit.writer, id, { default_effect: 'deny' }),
    )

    expect(await parts(first, second)).toBe('all')
  })

  it('are all if the known end is of another history, as after a restore', async () => {
    const [first, second] = await twoHeads(addKey)

    expect(await parts({ ...first, hash: '0'.repeat(64) }, second)).toBe('all')
  })

  it('are all if the version went back, although the ledger grew', async () => {
    const [first, second] = await twoHeads(addKey)

    expect(await parts({ ...first, config_version: 900 }, second)).toBe('all')
  })

  it('are all if entries are missing between them', async () => {
    const [first, second] = await twoHeads(addKey)

    expect(await parts(first, { ...second, size: second.size + 1 })).toBe('all')
  })
})
