import type { Answer, AppendRequest, ledger as endpoints } from '@remit/contract'
import type { Caller } from '@remit/core/caller'
import type { RequestInfo } from '@remit/core/http'
import { toClientError } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { AppendThresholds } from '../spend/append-thresholds.ts'
import { findHolds } from '../spend/totals-store.ts'
import { appendLane, settles } from './append.ts'
import type { AppendJob } from './append.ts'

/** Appends an entry of a caller and settles the hold that it names. */
export type Append = (
  caller: Caller,
  body: AppendRequest,
  request: Pick<RequestInfo, 'claim' | 'wantsNote'>,
) => Promise<Answer<typeof endpoints.appendEntry>>

/** Appends by callers; one for the process, so that they share transactions. */
export function appender({
  db,
  ledger,
  writer,
  settings,
}: Pick<Deps, 'db' | 'ledger' | 'writer' | 'settings'>): Append {
  // With an external spend source, appends do not count towards limits.
  const lane = appendLane(settings.spendUrl === undefined ? new AppendThresholds() : null)
  /** Decisions never change, so a linked one is read before the transaction. */
  const withLink = async (orgId: string, body: AppendRequest): Promise<AppendJob> => {
    const { decision_id: id } = body
    if (id == null || settles(body)) return body
    // Every allow has a hold, until it is old.
    const [hold] = await findHolds(db, orgId, [id])
    const linked = hold
      ? { agentId: hold.agent_id, isAllow: true }
      : await ledger.decisionOf(orgId, id)
    return { ...body, linked }
  }
  return async (caller, body, request) => {
    try {
      const job = await withLink(caller.orgId, body)
      return await writer.submit(lane, caller.orgId, job, { ...request, caller })
    } catch (error) {
      throw toClientError(error)
    }
  }
}
