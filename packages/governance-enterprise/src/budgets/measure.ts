import { toMicroUsd, WINDOWS } from '@remit/contract/values'
import type { ByWindow, Window } from '@remit/contract/values'
import type { Ask } from '@remit/core/decision'
import { boundedText } from '@remit/core/net'
import { z } from 'zod'
import { windowsAt } from './limits.ts'
import type { Limit } from './limits.ts'

/** A window of spend: a UTC calendar day (`2026-11-20`) or month (`2026-11`). */
export interface SpendQuery {
  readonly orgId: string
  readonly agentId: string
  readonly window: string
}

/** An external source of spend, instead of the totals of the ledger. */
export interface SpendSource {
  /**
   * Returns the USD spent in the window, a finite number of at least 0. A rejection or an aborted
   * signal denies.
   */
  spent(query: SpendQuery, signal: AbortSignal): Promise<number>
}

/** USD in each window by agent; null if the source failed. */
export type MeasuredSpend = ReadonlyMap<string, Partial<ByWindow<number>> | null>

export type MeasureSpend = (
  asks: readonly Ask[],
  limits: ReadonlyMap<string, Pick<Limit, 'caps'>>,
) => Promise<MeasuredSpend>

/**
 * Queries a source for the limited agents of a batch concurrently; for hours, only those with a cap of the
 * hour, since a source may not know hours. An error, a value that is negative or not
 * a safe integer in micro-USD, or more than `deadlineMs` leaves the agent without data, which denies.
 * Each such request calls `onFailure`.
 */
export function measureWith(
  source: SpendSource,
  deadlineMs: number,
  onFailure: () => void = () => undefined,
): MeasureSpend {
  return async (asks, limits) => {
    const agents = new Map(asks.map((ask) => [ask.request.agent_id, ask]))
    const signal = AbortSignal.timeout(deadlineMs)
    const limited = [...agents].filter(([agentId]) => limits.has(agentId))
    const measured = await Promise.all(
      limited.map(async ([agentId, { orgId, now }]) => {
        const windows = windowsAt(now)
        const hasHours = limits.get(agentId)?.caps.hour != null
        const spent = async ({ name }: Window) => {
          const query = { orgId, agentId, window: windows[name].id }
          const usd = await answerOf(() => source.spent(query, signal), signal, onFailure)
          return [name, usd] as const
        }
        try {
          const asked = WINDOWS.filter(({ name }) => name !== 'hour' || hasHours)
          return [agentId, Object.fromEntries(await Promise.all(asked.map(spent)))] as const
        } catch {
          return [agentId, null] as const
        }
      }),
    )
    return new Map(measured)
  }
}

/** The answer to one request. Reports a failure before it rejects. */
async function answerOf(
  request: () => Promise<number>,
  signal: AbortSignal,
  onFailure: () => void,
): Promise<number> {
  try {
    return await inTime(request(), signal)
  } catch (error) {
    onFailure()
    throw error
  }
}

/** The result, unless the signal aborts first: a source may ignore its signal. */
function inTime(answer: Promise<number>, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error('the spend source timed out'))
    signal.addEventListener('abort', late, { once: true })
    answer.then(
      (usd) =>
        // Larger sums cannot be recorded.
        usd >= 0 && Number.isSafeInteger(toMicroUsd(usd))
          ? resolve(usd)
          : reject(new RangeError('the spend source returned an invalid amount')),
      reject,
    )
  })
}

const Answer = z.object({ usd: z.number().min(0) })
const MAX_BYTES = 64 * 1024

/**
 * A spend source over HTTP, such as the cost API of an LLM gateway: `GET
 * <url>?org_id=&agent_id=&window=` returns `{"usd": number}`. Any other response, including a
 * redirect, is a failure.
 */
export function httpSpendSource(url: string): SpendSource {
  return {
    async spent({ orgId, agentId, window }, signal) {
      const target = new URL(url)
      target.searchParams.set('org_id', orgId)
      target.searchParams.set('agent_id', agentId)
      target.searchParams.set('window', window)
      const response = await fetch(target, {
        signal,
        redirect: 'error',
        headers: { Accept: 'application/json' },
      })
      if (response.status !== 200) throw new Error(`the spend source answered ${response.status}`)
      return Answer.parse(JSON.parse(await boundedText(response, MAX_BYTES))).usd
    },
  }
}
