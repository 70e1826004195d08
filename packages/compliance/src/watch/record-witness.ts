import { OPERATOR, SYSTEM } from '@remit/core'
import type { Deps } from '@remit/core'

const KIND = 'witness.set'

/** Records the verifier key of the witness in a ledger unless it is the last recorded one. */
export async function recordWitness(
  { ledger, writer }: Pick<Deps, 'ledger' | 'writer'>,
  orgId: string,
  vkey: string,
): Promise<void> {
  const query = { kind: KIND, order: 'desc', limit: 1 } as const
  const [last] = (await ledger.list(orgId, query)).data
  if (last?.data?.['vkey'] === vkey) return
  const entries = [{ kind: KIND, actor: SYSTEM, data: { vkey } }]
  await writer.work(orgId, OPERATOR, () => Promise.resolve({ entries, reply: () => undefined }))
}
