import { createHash } from 'node:crypto'
import type { Database } from '../../db/open.ts'
import type { CoreTables } from '../../db/schema.ts'
import { fail } from '../../base/errors.ts'
import type { Failure } from '../../base/errors.ts'
import { exportLines } from '../../ledger/read/export-lines.ts'
import { verifyExport } from '../../ledger/verify/export.ts'
import { decodeFrontier, rootOf } from '../../ledger/format/merkle.ts'
import { verifyDatabase } from '../../ledger/verify/database.ts'
import type { VerifyReport } from '../../ledger/verify/database-report.ts'
import type { ChainReport } from '../../ledger/verify/report.ts'
import type { Archive } from './archive.ts'
import type { PrunePlan } from './plan.ts'

/** Returns the Merkle root of the entries to prune. */
export const rootOfPlan = ({ cut, point }: PrunePlan): string =>
  rootOf(decodeFrontier(cut, point.frontier).nodes)

/**
 * Verifies the archive as an auditor would: the written bytes, valid from the first to the last
 * pruned entry, up to the signed root. Returns the number of erased payloads.
 */
export async function checkArchive(
  archive: Archive,
  sha256: string,
  plan: PrunePlan,
): Promise<number> {
  const read = createHash('sha256')
  const lines = exportLines(hashed(archive.read(), read))
  const report = await verifyExport(lines, { vkey: plan.point.vkey, deep: true })
  if (read.digest('hex') !== sha256) {
    throw fail('internal_error', 'The export differs from the data that was written')
  }
  const { from_seq, to_seq } = report.checked
  const isWhole = from_seq === plan.from_seq && to_seq === plan.cut - 1
  if (report.status !== 'ok' || !isWhole || report.root !== rootOfPlan(plan)) {
    throw unsound('the export', report)
  }
  return report.redacted + report.unexplained
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  into: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    into.update(chunk)
    yield chunk
  }
}

/** Verifies the whole ledger, so that a pruning cannot hide a manipulation. */
export async function checkLedger(
  db: Database<CoreTables>,
  orgId: string,
  vkey: string,
  onProgress: (done: number) => void,
): Promise<void> {
  const report = await verifyDatabase(db, orgId, { vkeys: [vkey], onProgress })
  if (report.status !== 'ok') throw unsound('the ledger', report)
}

function unsound(
  what: string,
  { status, first_invalid: first }: ChainReport | VerifyReport,
): Failure {
  const where = first === null ? '' : `, first at seq ${first.seq}: ${first.code}`
  return fail(
    'invalid_request',
    `Verification of ${what} failed (${status}${where}); nothing was pruned`,
  )
}
