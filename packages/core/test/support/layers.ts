import { findHead } from '../../src/ledger/store/store.ts'
import { parseVerifierKey } from '../../src/ledger/format/note.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { createChainVerifier } from '../../src/ledger/verify/chain.ts'
import type { ChainEnd } from '../../src/ledger/verify/chain.ts'
import type { ChainStatus } from '../../src/ledger/verify/report.ts'
import { readEntries } from './attacker.ts'
import type { Attacked } from './attacker.ts'

/** Trust that a verifier may have, each level with the levels before it. */
export const LAYERS = ['chain', 'head', 'checkpoints', 'every commit', 'external'] as const
export type Layer = (typeof LAYERS)[number]

export interface Finding {
  readonly status: ChainStatus
  /** `<seq> <code>` of the error of the lowest sequence number; null if there is none. */
  readonly first: string | null
  readonly notChecked: readonly string[]
}

export interface Trust {
  readonly vkey: string
  /** A signed note that was kept outside of the database. */
  readonly external: string
}

/**
 * The findings of each layer. Ledgers that do not sign each commit have the first three, which accept
 * an unsigned tail; the last two are ours.
 */
export async function findByLayer(
  tx: Attacked,
  orgId: string,
  { vkey, external }: Trust,
): Promise<Record<Layer, Finding>> {
  const row = await findHead(tx, orgId)
  const head = row && { size: row.size, hash: row.hash, frontier: row.frontier, checkpoint: null }
  const stored = await tx
    .selectFrom('ledger_checkpoint')
    .selectAll()
    .where('org_id', '=', orgId)
    .execute()
  return {
    chain: await walk(tx, orgId, {}),
    head: await walk(tx, orgId, { ...(head && { head }) }),
    checkpoints: await walk(tx, orgId, { ...(head && { head }) }, vkey, stored),
    'every commit': await verify(tx, orgId, vkey),
    external: await verify(tx, orgId, vkey, external),
  }
}

async function walk(
  tx: Attacked,
  orgId: string,
  end: ChainEnd,
  vkey?: string,
  stored: readonly { note: string }[] = [],
): Promise<Finding> {
  const verifiers = vkey === undefined ? [] : [parseVerifierKey(vkey)]
  const verifier = createChainVerifier({ org_id: orgId, verifiers })
  for (const { note } of stored) verifier.checkpoint(note)
  for (const entry of await readEntries(tx, orgId)) verifier.entry(entry)
  const { errors, not_checked } = verifier.finish(end)
  const known = errors.filter(({ code }) => code !== 'unsigned_tail')
  const [first] = known
  const isShort = known.every(({ code }) => code === 'truncated')
  return {
    status: first ? (isShort ? 'behind_checkpoint' : 'tampered') : 'ok',
    first: first ? `${first.seq} ${first.code}` : null,
    notChecked: not_checked,
  }
}

/** The result of `verifyDatabase` with a pinned key and an optional external checkpoint. */
export async function verify(
  tx: Attacked,
  orgId: string,
  vkey?: string,
  external?: string,
): Promise<Finding> {
  const {
    status,
    first_invalid: first,
    not_checked,
  } = await verifyDatabase(tx, orgId, {
    vkeys: vkey === undefined ? [] : [vkey],
    checkpoints: external === undefined ? [] : [external],
  })
  return { status, first: first && `${first.seq} ${first.code}`, notChecked: not_checked }
}
