import type { EvidenceEntry, EvidenceQuery, ReadyReport } from '@remit/contract'
import { invalid, invalidCursor, fail } from '@remit/core/base'
import type { Page } from '@remit/core/base'
import type { Deps } from '@remit/core/module'
import { on } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import { findCut } from '@remit/core/ledger/records'
import { catalogue, CHECKS } from '../catalogue/catalogue.ts'
import { controlsIn } from '../catalogue/report-scope.ts'
import type { EvidenceRequest as Wanted } from '../jobs/jobs.ts'
import type { EvidenceRuns } from './evidence-runs.ts'
import { findEntries } from './store.ts'
import type { Tables } from '../tables/schema.ts'

/** The entries behind a control or a check of a report, in order, while all of them are kept. */
export async function evidencePage(
  { db, runs }: Pick<Deps, 'db'> & { readonly runs: EvidenceRuns },
  orgId: string,
  report: ReadyReport,
  query: EvidenceQuery,
  signal: AbortSignal,
): Promise<Page<EvidenceEntry>> {
  const afterSeq = placeOf(query.cursor)
  const of = sourceOf(report, query)
  await ensureNotPruned(db, orgId, report)
  // A manual control has no kinds.
  if ('kinds' in of && of.kinds.length === 0) return { data: [], next_cursor: null }
  const { seqs, isLast } = await runs.page({ orgId, report, of, afterSeq }, query.limit, signal)
  const data = seqs.length === 0 ? [] : await findEntries(db, orgId, seqs)
  // A concurrent pruning may have removed some of them.
  await ensureNotPruned(db, orgId, report)
  return { data, next_cursor: isLast ? null : String(seqs.at(-1)) }
}

function sourceOf(
  { framework, content }: ReadyReport,
  { control, check }: EvidenceQuery,
): Wanted['of'] {
  if (check !== undefined) {
    if (!CHECKS.has(check)) throw invalid('check', 'is not a check of a report')
    return { check }
  }
  const inScope = controlsIn(catalogue(framework), content.scope)
  const found = inScope.find(({ id }) => id === control)
  if (!found) throw invalid('control', 'is not a control of the report')
  return { kinds: found.evidence }
}

function placeOf(cursor: string | undefined): number | null {
  if (cursor === undefined) return null
  if (!/^(0|[1-9]\d{0,14})$/.test(cursor)) throw invalidCursor()
  return Number(cursor)
}

/**
 * Throws `ledger_pruned` if entries of a report were pruned since: the remaining entries would
 * silently contradict it. This includes entries before the period, since checks look back on them
 * and earlier configuration is evidence.
 */
async function ensureNotPruned(
  db: AnyDatabase,
  orgId: string,
  { content: { ledger } }: ReadyReport,
): Promise<void> {
  const cut = await findCut(on<Tables>(db), orgId)
  if (!cut || cut.size <= (ledger.verified_from_seq ?? 0)) return
  throw fail(
    'ledger_pruned',
    `Entries of the report were pruned: the ledger now starts at entry ${cut.size}. A new report for the period lists the remaining evidence`,
  )
}
