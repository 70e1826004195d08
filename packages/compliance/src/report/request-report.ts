import { setTimeout } from 'node:timers/promises'
import type { ReportRequest } from '@remit/contract'
import { fail, isoTime } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { makeDurable } from '@remit/core/db'
import type { ApiRequest } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { catalogue } from '../catalogue/catalogue.ts'
import { scopeOf } from '../catalogue/report-scope.ts'
import { LEASE_MS } from './generator.ts'
import type { Generator } from './generator.ts'
import { periodOf } from './read-ledger.ts'
import type { Period } from './read-ledger.ts'
import type { ReportHead, ReportRow } from '../tables/reports.ts'
import { deleteLeft, findClaimed, findReport, forgetClaim, insertReport } from './store.ts'

export interface RequestDeps extends Pick<Deps, 'db' | 'clock' | 'ids' | 'evaluation'> {
  readonly generator: Generator
  /**
   * Milliseconds that a caller waits for the report; afterwards the response has status
   * `generating`.
   */
  readonly patienceMs: number
}

/** The requester of a report; the operator, if there is no caller. */
export interface ReportRequester {
  readonly orgId: string
  readonly caller: Caller | null
}

const CLAIM_MS = 24 * 60 * 60 * 1000

/**
 * Returns a report, generated if that is fast. A repeat with the same `Idempotency-Key` returns the
 * earlier one, even if the process that started it has died.
 */
export async function requestReport(
  deps: RequestDeps,
  asker: ReportRequester,
  request: ReportRequest,
  claim: ApiRequest['claim'],
): Promise<ReportRow> {
  const { db, generator } = deps
  const { orgId } = asker
  const now = deps.clock.now()
  const period = periodOf(request, now)
  const asked = rowOf(deps, asker, { request, period, now }, claim)
  const isNew = await db.transaction().execute(async (tx) => {
    await makeDurable(tx)
    if (claim) await forgetClaim(tx, orgId, claim.key, isoTime(now - CLAIM_MS))
    return insertReport(tx, asked)
  })
  const known = isNew ? null : await claimed(deps, orgId, asked)
  const row: ReportHead = known ?? asked
  const running = known ? generator.running(known) : generator.run(asked)
  if (running) await patiently(deps, running, row)
  const found = await findReport(db, orgId, row.id)
  if (!found) throw fail('report_not_found')
  return found
}

interface Asked {
  readonly request: ReportRequest
  readonly period: Period
  readonly now: number
}

function rowOf(
  { ids, evaluation }: RequestDeps,
  { orgId, caller }: ReportRequester,
  { request, period: { from, to }, now }: Asked,
  claim: ApiRequest['claim'],
): ReportRow {
  return {
    org_id: orgId,
    id: ids.next('rpt_', now),
    status: 'generating',
    framework: request.framework,
    period_from: isoTime(from),
    period_to: isoTime(to),
    scope: JSON.stringify(scopeOf(catalogue(request.framework), request)),
    requested_at: isoTime(now),
    requested_by: JSON.stringify(actorOf(caller)),
    requested_person: personOf(caller).person ?? null,
    claim_key: claim?.key ?? null,
    claim_hash: claim?.requestHash ?? null,
    held_until: now + LEASE_MS,
    attempts: 1,
    failure: null,
    generated_at: null,
    content: null,
    csv: null,
    content_sha256: null,
    csv_sha256: null,
    record_seq: null,
    head: null,
    summary: null,
    verified: null,
    evaluation: evaluation ? 1 : 0,
  }
}

/** The report of an earlier request with the same key, if the request was equal. */
async function claimed(
  { db }: RequestDeps,
  orgId: string,
  { claim_key, claim_hash }: ReportRow,
): Promise<ReportHead> {
  const row = await findClaimed(db, orgId, claim_key ?? '')
  if (!row) throw fail('idempotency_in_progress')
  if (row.claim_hash !== claim_hash) throw fail('idempotency_mismatch')
  return row
}

/**
 * Waits for the report for a limited time. A report whose generation could not start is not stored,
 * since the caller will repeat the request.
 */
async function patiently(
  { db, patienceMs }: RequestDeps,
  running: Promise<void>,
  row: ReportHead,
): Promise<void> {
  const patience = new AbortController()
  const enough = setTimeout(patienceMs, undefined, { signal: patience.signal })
  try {
    await Promise.race([running, enough])
  } catch (error) {
    await deleteLeft(db, row)
    throw error
  } finally {
    patience.abort()
  }
}
