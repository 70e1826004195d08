import type { StoredEntry } from '../../src/ledger/format/entry.ts'
import { parseVerifierKey } from '../../src/ledger/format/note.ts'
import { createChainVerifier } from '../../src/ledger/verify/chain.ts'
import type { ChainEnd, ChainVerifierOptions } from '../../src/ledger/verify/chain.ts'
import type { ChainReport } from '../../src/ledger/verify/report.ts'
import { testSigner } from './chain.ts'
import type { TestChain } from './chain.ts'

export interface Check extends Partial<ChainVerifierOptions>, ChainEnd {
  readonly rows?: readonly StoredEntry[]
  readonly notes?: readonly string[]
  readonly external?: readonly string[]
}

/** Verifies a chain as a holder of the first test key would; each part can be replaced. */
export function check(chain: TestChain, change: Check = {}): ChainReport {
  const { rows = chain.rows, notes = [], external = [], head = chain.head } = change
  const { stopped = false, continues = false, incomplete = false, vkey, ...options } = change
  const verifiers = [parseVerifierKey(testSigner(chain.origin).vkey)]
  const verifier = createChainVerifier({ org_id: chain.org_id, verifiers, ...options })
  for (const note of notes) verifier.checkpoint(note)
  for (const note of external) verifier.checkpoint(note, { external: true })
  for (const row of rows) verifier.entry(row)
  return verifier.finish({
    // An export has no head.
    ...(!continues && { head }),
    stopped,
    continues,
    incomplete,
    ...(vkey !== undefined && { vkey }),
  })
}

/** Errors as `seq code`. */
export const codes = (report: ChainReport): string[] =>
  report.errors.map(({ seq, code }) => `${seq} ${code}`)
