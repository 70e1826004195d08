import { SYSTEM } from '@remit/core/caller'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'

/** Records the verifier key of the witness in a ledger unless it is the last recorded one. */
export async function recordWitness(
  { ledger, writer }: Pick<Deps, 'ledger' | 'writer'>,
  orgId: string,
  vkey: string,
): Promise<void> {
  const query = { kind: 'witness.set', order: 'desc', limit: 1 } as const
  const [last] = (await ledger.list(orgId, query)).data
  if (last?.data?.['vkey'] === vkey) return
  const entry: EntryDraft = { kind: 'witness.set', actor: SYSTEM, data: { vkey } }
  await writer.work(orgId, OPERATOR, () =>
    Promise.resolve({ entries: [entry], reply: () => undefined }),
  )
}
