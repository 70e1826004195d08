import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findHead } from '../../src/ledger/store/store.ts'
import { createLedgerSigner } from '../../src/ledger/format/note.ts'
import { createClock, createTestRemit, fullDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAttack, dropGuards } from '../support/attacker.ts'
import { ATTACKS } from '../support/attacks.ts'
import type { Target } from '../support/attack-shapes.ts'
import { grow } from '../support/drafts.ts'
import { findByLayer, LAYERS, verify } from '../support/layers.ts'
import type { Trust } from '../support/layers.ts'

describe.each(fullDialects())('an attacker with the whole database on %s', (dialect) => {
  const clock = createClock()
  let remit: TestRemit
  let target: Target
  let trust: Trust
  let notes: Map<number, string>

  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    const [orgId, otherId] = [(await remit.organization()).id, (await remit.organization()).id]
    notes = await grow(remit, orgId, 303, clock)
    const oldHead = (await findHead(remit.db, orgId))!
    for (const [size, note] of await grow(remit, orgId, 603, clock)) notes.set(size, note)
    await grow(remit, otherId, 23, clock)
    target = {
      orgId,
      otherId,
      oldHead,
      ownSigner: createLedgerSigner(remit.signingKey),
      foreignSigner: createLedgerSigner(generateKeyPairSync('ed25519').privateKey),
    }
    trust = { vkey: oldHead.vkey, external: notes.get(403)! }
    await dropGuards(remit.db)
  })
  afterAll(() => remit.close())

  test('finds nothing where nobody was', async () => {
    const found = await remit.db.transaction().execute((tx) => findByLayer(tx, target.orgId, trust))

    for (const layer of LAYERS)
      expect(found[layer], layer).toMatchObject({ status: 'ok', first: null })
  })

  test.each(ATTACKS)('$name: first seen by: $layer', async ({ run, layer, first, status }) => {
    const found = await afterAttack(
      remit.db,
      (tx) => run(tx, target),
      (tx) => findByLayer(tx, target.orgId, trust),
    )

    const seen = LAYERS.filter((one) => found[one].first !== null)
    expect(seen).toEqual(LAYERS.slice(LAYERS.indexOf(layer)))
    const own = layer === 'external' ? found.external : found['every commit']
    expect(own).toMatchObject({ first, status: status ?? 'tampered' })
  })

  /** The result for an attack by name, with or without a key and an external checkpoint. */
  const findOf = (name: string, vkey?: string, external?: string) =>
    afterAttack(
      remit.db,
      (tx) => ATTACKS.find((attack) => attack.name === name)!.run(tx, target),
      (tx) => verify(tx, target.orgId, vkey, external),
    )

  test('an older signed state looks sound, and the report says that it might', async () => {
    const { vkey, external } = trust
    const name = 'an older signed state is put back'
    const sentence = /^A rollback to an older signed state/

    const alone = await findOf(name, vkey)
    expect(alone).toMatchObject({ status: 'ok', first: null })
    expect(alone.notChecked).toContainEqual(expect.stringMatching(sentence))

    // A checkpoint from outside that ends before the cut was always true.
    expect(await findOf(name, vkey, notes.get(303))).toMatchObject({ status: 'ok' })
    const outside = await findOf(name, vkey, external)
    expect(outside).toMatchObject({ status: 'behind_checkpoint', first: '303 truncated' })
  })

  test('another key looks sound without the right one, and the report says that it might', async () => {
    const name = 'all is rewritten from genesis and signed with another key'

    const unpinned = await findOf(name)
    expect(unpinned).toMatchObject({ status: 'ok', first: null })
    expect(unpinned.notChecked).toContainEqual(expect.stringMatching(/^The signer/))

    expect(await findOf(name, trust.vkey)).toMatchObject({ status: 'tampered' })
  })

  test('an entry taken from another organization leaves a gap there', async () => {
    const found = await afterAttack(
      remit.db,
      (tx) => ATTACKS.find(({ name }) => /another organization/.test(name))!.run(tx, target),
      (tx) => verify(tx, target.otherId),
    )

    expect(found).toMatchObject({ status: 'tampered', first: '5 gap' })
  })

  test('an index copy is compared without any key', async () => {
    const found = await findOf('an index copy says something else than the payload')

    expect(found).toMatchObject({ status: 'tampered', first: '300 copy_mismatch' })
  })
})
