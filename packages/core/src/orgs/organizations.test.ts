import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Failure } from '../base/errors.ts'
import { randomIds } from '../base/ids.ts'
import { generateKey } from '../keys/key-text.ts'
import { createLedgerSigner } from '../ledger/format/note.ts'
import { createClock, createTestRemit, DIALECTS } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import {
  createOrganization,
  findOrganization,
  isOrganizationName,
  listOrganizations,
} from './organizations.ts'
import type { CreateDeps } from './organizations.ts'

describe.each(DIALECTS)('organizations on %s', (dialect) => {
  let remit: TestRemit
  let deps: CreateDeps
  beforeAll(async () => {
    const clock = createClock()
    remit = await createTestRemit({ dialect, clock })
    deps = {
      db: remit.db,
      clock,
      ids: randomIds,
      signer: createLedgerSigner(remit.signingKey),
      host: 'remit.test',
      version: '1.2.3',
      log: pino({ level: 'silent' }),
    }
  })
  afterAll(() => remit.close())

  it('begin with a ledger of three entries: genesis, the organization and its first key', async () => {
    const { organization, key } = await createOrganization(deps, 'acme', 'team')

    const head = await remit.ledger.head(organization.id)
    const entries = await Promise.all(
      [0, 1, 2].map((seq) => remit.ledger.entry(organization.id, seq)),
    )
    expect(entries.map(({ kind }) => kind)).toEqual([
      'ledger.genesis',
      'organization.created',
      'key.created',
    ])
    expect(entries[0]?.data).toMatchObject({
      org_id: organization.id,
      origin: head.origin,
      vkey: head.vkey,
      server_version: '1.2.3',
      created_at: '2026-11-20T08:00:00.000Z',
    })
    expect(entries[1]?.data).toMatchObject({
      organization: { id: organization.id, name: 'acme', plan: 'team' },
    })
    expect(entries[2]?.data).toMatchObject({ key: { id: key.id, role: 'admin' } })
    expect(head).toMatchObject({ size: 3, hash: entries[2]?.hash })
    expect(head.origin).toMatch(new RegExp(`^remit\\.test/ledger/${organization.id}/led_`))
  })

  it('take the key that they are given', async () => {
    const given = generateKey()

    const { key } = await createOrganization(deps, 'given', 'team', given)

    expect(key).toMatchObject(given)
    expect((await remit.call('GET', '/v1/scorers', { key: given.secret })).status).toBe(200)
  })

  it('have names of their own: a second one of the name leaves nothing behind', async () => {
    await createOrganization(deps, 'twice', 'team')
    const before = await listOrganizations(remit.db)

    await expect(createOrganization(deps, 'twice', 'team')).rejects.toThrow(
      'An organization named twice already exists',
    )

    expect(await listOrganizations(remit.db)).toEqual(before)
  })

  it('have one name each, also when they are created at the same time', async () => {
    const made = await Promise.allSettled(
      Array.from({ length: 4 }, () => createOrganization(deps, 'raced', 'team')),
    )

    const refused = made.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as Failure] : [],
    )
    expect(refused.map(({ code }) => code)).toEqual(Array(3).fill('organization_exists'))
  })

  it('are all or nothing', async () => {
    const broken = {
      ...deps,
      signer: {
        forOrigin: () => {
          throw new Error('no key')
        },
      },
    }

    await expect(createOrganization(broken, 'half', 'team')).rejects.toThrow('no key')

    expect(await findOrganization(remit.db, 'half')).toBeUndefined()
  })

  it('are found by id and by name', async () => {
    const { organization } = await createOrganization(deps, 'findable', 'team')

    expect(await findOrganization(remit.db, 'findable')).toEqual(organization)
    expect(await findOrganization(remit.db, organization.id)).toEqual(organization)
    expect(await findOrganization(remit.db, 'Findable')).toBeUndefined()
  })
})

describe('isOrganizationName', () => {
  it.each(['a', 'Acme & Söhne', 'x'.repeat(128), '株式会社'])('takes %s', (name) => {
    expect(isOrganizationName(name)).toBe(true)
  })

  it.each(['', ' a', 'a ', 'a\nb', 'a\u200bb', 'org_1', 'x'.repeat(129), '\u00a0a'])(
    'refuses %j',
    (name) => {
      expect(isOrganizationName(name)).toBe(false)
    },
  )
})
