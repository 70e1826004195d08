import { delayAfter, pause, RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'

const LONGEST_WAIT_S = 55
/** Beyond the seconds that the server holds the answer. */
const SLACK_MS = 10_000
/** Between two questions, where the server does not hold its answer. */
const PAUSE_MS = 500

type Status = 'pending' | 'approved' | 'consumed' | 'rejected' | 'expired' | 'cancelled' | 'revoked'

/**
 * The status of an approval once it is no longer pending, or after `maxMs`; with 0, the status now.
 * Throws the `RemitError` of a refusal, and of a failure that lasts until `maxMs`.
 */
export async function approvalStatus(
  client: Client,
  id: string,
  maxMs: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly status: Status; readonly comment: string | null }> {
  const deadline = Date.now() + maxMs
  for (let failures = 0; ;) {
    const left = Math.max(0, deadline - Date.now())
    const wait = Math.min(LONGEST_WAIT_S, Math.ceil(left / 1000))
    const begun = Date.now()
    try {
      const { status, comment_for_agent: comment = null } = await client.getApproval({
        params: { id },
        ...(wait > 0 && { query: { wait } }),
        timeoutMs: Math.min(left, wait * 1000) + SLACK_MS,
        retries: maxMs === 0 ? 2 : 0,
        ...(signal && { signal }),
      })
      if (status !== 'pending' || Date.now() >= deadline) return { status, comment }
      failures = 0
      if (Date.now() - begun < PAUSE_MS) await pause(PAUSE_MS, signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof RemitError) || isRefusal(error)) throw error
      const delay = delayAfter(failures++, error)
      if (Date.now() + delay >= deadline) throw error
      await pause(delay, signal)
    }
  }
}

const isRefusal = ({ status }: RemitError): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429
