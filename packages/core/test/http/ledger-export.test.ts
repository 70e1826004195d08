import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { verifyExport } from '../../src/ledger/verify/export.ts'
import { createKey } from '../../src/orgs/administration.ts'
import { rotateLedgerKey } from '../../src/orgs/rotate-ledger-key.ts'
import { createTestRemit, fullDialects } from '@remit/testing'
import type { TestOrganization, TestRemit } from '@remit/testing'

describe.each(fullDialects())('the export of a ledger on %s', (dialect) => {
  let remit: TestRemit
  let org: TestOrganization
  let vkey: string
  beforeAll(async () => {
    remit = await createTestRemit({ dialect })
    org = await remit.organization()
    for (let i = 0; i < 20; i++) await createKey(remit.writer, org.id, { role: 'read' })
    ;({ vkey } = await remit.ledger.head(org.id))
  })
  afterAll(() => remit.close())

  const lines = async (afterSeq?: number): Promise<string[]> => {
    let text = ''
    for await (const part of await remit.ledger.export(org.id, { afterSeq })) text += part
    return text.trimEnd().split('\n')
  }

  it('verifies as a whole against the key of the ledger', async () => {
    expect(await verifyExport(await lines(), { vkey, deep: true })).toMatchObject({
      status: 'ok',
      checked: { from_seq: 0, to_seq: 22, entries: 23 },
      anchored_by: 'signature',
      truncation_checked: false,
      errors: [],
    })
  })

  it('verifies from any entry on', async () => {
    const report = await verifyExport(await lines(9), { vkey })

    expect(report).toMatchObject({ checked: { from_seq: 10, to_seq: 22, entries: 13 }, errors: [] })
  })

  it('names the key that was in force at its end, also after later rotations', async () => {
    const { id } = await remit.organization()
    const first = await remit.ledger.head(id)
    const [one, two] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')]
    const deps = { db: remit.db, clock: systemClock }
    const rotation = { ...deps, oldKey: remit.signingKey, newKey: one.privateKey }
    const { seq } = await rotateLedgerKey(rotation, id)
    await rotateLedgerKey({ ...deps, oldKey: one.privateKey, newKey: two.privateKey }, id)

    let text = ''
    for await (const part of await remit.ledger.export(id, { size: seq + 1 })) text += part

    const report = await verifyExport(text.trimEnd().split('\n'), { vkey: first.vkey })
    expect(report).toMatchObject({ status: 'ok', errors: [] })
  })

  it('gives the same lines, whether it is read at once or resumed', async () => {
    const whole = await lines()
    const [first, rest] = [whole.slice(0, 11), await lines(9)]

    expect([...first, ...rest.slice(1)]).toEqual(whole)
  })

  it.each([
    ['a line is missing', (all: string[]) => all.toSpliced(7, 1)],
    [
      'two lines changed places',
      (all: string[]) => all.with(7, all[8] ?? '').with(8, all[7] ?? ''),
    ],
    [
      'a payload was changed',
      (all: string[]) =>
        all.with(7, (all[7] ?? '').replace('\\"role\\":\\"read\\"', '\\"role\\":\\"root\\"')),
    ],
    ['the end is missing', (all: string[]) => all.toSpliced(15, 6)],
  ])('does not verify when %s', async (_, forge) => {
    const all = await lines()
    const forged = forge(all)

    expect(forged).not.toEqual(all)
    expect((await verifyExport(forged, { vkey })).status).not.toBe('ok')
  })
})
