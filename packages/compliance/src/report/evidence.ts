import type { EvidenceEntry, EvidenceQuery, Framework, ReadyReport } from '@remit/contract'
import { invalid } from '@remit/core'
import type { Deps } from '@remit/core'
import { catalogue, CHECKS } from '../catalogue/catalogue.ts'
import { controlsIn } from '../catalogue/scope.ts'
import type { Scope } from '../catalogue/scope.ts'
import type { EvidenceQuery as Wanted, Jobs } from '../worker/jobs.ts'
import { questionFor } from './generate.ts'
import { findEntries } from './store.ts'
import type { ReportHead } from './store.ts'
import { checkWhole } from './whole.ts'

interface Page {
  readonly data: EvidenceEntry[]
  readonly next_cursor: string | null
}

/** The entries behind a control or a check of a report, in their order, while all of them are kept. */
export async function evidencePage(
  { db, jobs }: Pick<Deps, 'db'> & { readonly jobs: Jobs },
  row: ReportHead,
  report: ReadyReport,
  query: EvidenceQuery,
  signal: AbortSignal,
): Promise<Page> {
  const afterSeq = placeOf(query.cursor)
  const sources = sourcesOf(row, query)
  await checkWhole(db, row.org_id, report)
  const question = questionFor(row)
  const seqs = new Set<number>()
  for (const of of sources) {
    // One more than asked for tells whether there are more.
    const wanted = { question, of, afterSeq, limit: query.limit + 1 }
    const page = await jobs.evidence(row.org_id, wanted, { signal })
    for (const seq of page.seqs) seqs.add(seq)
  }
  const inOrder = [...seqs].toSorted((a, b) => a - b)
  const shown = inOrder.slice(0, query.limit)
  const data = shown.length === 0 ? [] : await findEntries(db, row.org_id, shown)
  // A pruning may have taken some of them meanwhile.
  await checkWhole(db, row.org_id, report)
  return { data, next_cursor: inOrder.length > query.limit ? String(shown.at(-1)) : null }
}

function sourcesOf(row: ReportHead, { control, check }: EvidenceQuery): Wanted['of'][] {
  if (check !== undefined) {
    if (!CHECKS.has(check)) throw invalid('check', 'is not a check; a report names those it has')
    return [{ check }]
  }
  const of = catalogue(row.framework as Framework)
  const inScope = controlsIn(of, JSON.parse(row.scope) as Scope)
  const found = inScope.find(({ id }) => id === control)
  if (!found) throw invalid('control', 'is not a control of the report')
  return found.evidence.map((kind) => ({ kind }))
}

function placeOf(cursor: string | undefined): number | null {
  if (cursor === undefined) return null
  if (!/^(0|[1-9]\d{0,14})$/.test(cursor))
    throw invalid('cursor', 'must be the next_cursor of an earlier answer')
  return Number(cursor)
}
