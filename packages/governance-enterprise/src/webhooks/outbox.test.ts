import type { LinkedEntry, LedgerScope } from '@remit/core/ledger/lanes'
import { createTestRemit } from '@remit/testing'
import { expect, it } from 'vitest'
import governance from '../index.ts'
import { Outbox } from './outbox.ts'

const entry = (kind: string, decision: string | null = null) =>
  ({ row: { kind, seq: 7 }, content: { decision } }) as LinkedEntry

/** A transaction that must not be used. */
const untouchable = new Proxy(
  {},
  {
    get: () => {
      throw new Error('the database was asked')
    },
  },
) as LedgerScope['tx']

it('queries the database once per config version, and only for entries with events', async () => {
  const remit = await createTestRemit({ modules: [governance] })
  const scope = {
    orgId: 'org_none',
    recordedAt: '2026-11-20T08:00:00.000Z',
    writes: [],
    announce: () => expect.unreachable(),
  } as unknown as LedgerScope
  const asking = { ...scope, tx: remit.db as never }
  const outbox = new Outbox()
  const deny = [entry('authorization.decided', 'deny')]

  const untold = ['entry.appended', 'webhook.created', 'approval.voted'].map((kind) => entry(kind))
  untold.push(entry('authorization.decided', 'allow'))
  await outbox.observe(untold, { ...scope, tx: untouchable, configVersion: 1 })
  await outbox.observe(deny, { ...asking, configVersion: 1 })
  await outbox.observe(deny, { ...scope, tx: untouchable, configVersion: 1 })

  const moved = outbox.observe(deny, { ...scope, tx: untouchable, configVersion: 2 })
  await expect(moved).rejects.toThrow('the database was asked')
  expect(scope.writes).toEqual([])
  await remit.close()
})
