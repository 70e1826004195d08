import { remit, send } from '../../api/client.ts'
import type { Source } from '../../verify/verdict.ts'
import type { EntryText } from '../../verify/verify.ts'

interface Keys {
  readonly data: readonly { readonly vkey: string; readonly to_seq: number | null }[]
}

/** The requests of the verification to the server. */
export const ledgerSource: Source = {
  entry: (seq) => send<EntryText>('GET', `/v1/ledger/${seq}`),
  proof: (seq, size) =>
    remit.getProof({ params: { seq }, query: size === undefined ? {} : { size } }),
  consistency: async (from, to) => (await remit.getConsistency({ query: { from, to } })).proof,
  keys: async () => (await send<Keys>('GET', '/v1/ledger/keys')).data,
}
