import { remit } from '../../api/client.ts'
import type { Source } from '../../verify/verdict.ts'

/** The requests of the verification to the server. */
export const ledgerSource: Source = {
  entry: (seq) => remit.getEntry({ params: { seq } }),
  proof: (seq, size) =>
    remit.getProof({ params: { seq }, query: size === undefined ? {} : { size } }),
  consistency: async (from, to) => (await remit.getConsistency({ query: { from, to } })).proof,
  keys: async () => (await remit.listLedgerKeys()).data,
}
