import { RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { settlementKey } from './key.ts'
import type { Json } from '@remit/contract/fit'
import { isUsd, roundedUsd, SELF_TEST_ACTIONS } from './mapping.ts'
import type { Verdict } from './errors.ts'

/** The outcome of an allowed call. */
export interface Outcome {
  /** Actual cost; without it, the amount held is settled after a success. */
  readonly costUsd?: number
  /** Actual amounts in other units, such as `{ tokens: 1200 }`; without one, its hold is settled. */
  readonly amounts?: Readonly<Record<string, number>>
  /** `success` unless given. After `failure` and `unknown` without a cost the hold stays. */
  readonly outcome?: 'success' | 'failure' | 'unknown'
  /** True where the call had no effect: releases the hold. */
  readonly release?: boolean
}

/**
 * States if the outcome is in the ledger and the hold ended; `error` has the reason if not. It is null for a verdict
 * that holds nothing.
 */
export interface Settlement {
  readonly settled: boolean
  readonly error: RemitError | null
}

interface Settler {
  readonly client: Client
  readonly agentId: string | undefined
  readonly warn: (message: string) => void
}

const ATTEMPT_MS = 5_000

/**
 * Reports the outcome of an allowed call and ends its hold. Never throws: what was done stays done,
 * whatever Remit answers. A repeat is the same entry.
 */
export async function settle(
  { client, agentId, warn }: Settler,
  verdict: Verdict,
  outcome: Outcome,
): Promise<Settlement> {
  if (verdict.kind !== 'allow') {
    warn('Only an allow can be settled; the outcome of another verdict was not reported')
    return { settled: false, error: null }
  }
  const { decisionId, action } = verdict
  // Self-tests hold nothing.
  if (action.startsWith(SELF_TEST_ACTIONS)) return { settled: true, error: null }
  const ending = endingOf(outcome)
  if (outcome.costUsd !== undefined && !isUsd(outcome.costUsd) && !outcome.release)
    warn(`${shown(outcome.costUsd)} is no amount in USD; the amount held was settled`)
  const entry = {
    action,
    ...(agentId !== undefined && { agent_id: agentId }),
    decision_id: decisionId,
    outcome: outcome.outcome ?? 'success',
  }
  const unreported = (error: RemitError) =>
    warn(`The outcome of ${decisionId} could not be reported: ${error.message}`)
  try {
    await append(client, { ...entry, ...(ending ?? { settle: 'held' as const }) })
    return { settled: true, error: null }
  } catch (thrown) {
    const error = errorOf(thrown)
    if (error.code === 'decision_settled') return { settled: true, error: null }
    if (error.code === 'scope_required') {
      warn('The hold stays: to settle below it, the credential needs the scope ledger:settle')
      await append(client, entry).catch((failure: unknown) => unreported(errorOf(failure)))
    } else unreported(error)
    return { settled: false, error }
  }
}

const errorOf = (thrown: unknown): RemitError =>
  thrown instanceof RemitError
    ? thrown
    : new RemitError({ code: 'unreachable', message: 'the entry was not sent', cause: thrown })

/** An object may have a text that throws, or none. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if ((typeof value === 'object' && value !== null) || typeof value === 'function')
    return `A value of type ${typeof value}`
  return String(value)
}

type Ending = Pick<Entry, 'cost_usd' | 'amounts' | 'settle'>

/** The settlement of the hold; null for an invalid cost. */
function endingOf({
  costUsd,
  amounts,
  outcome = 'success',
  release = false,
}: Outcome): Ending | null {
  if (release) return { settle: 'release' }
  const others = amounts && { amounts: { ...amounts } }
  if (costUsd === undefined) return others ?? (outcome === 'success' ? { settle: 'held' } : {})
  return isUsd(costUsd) ? { cost_usd: roundedUsd(costUsd), ...others } : (others ?? null)
}

/** Reports that something ran without an allow: `enforcement.gap` in the ledger. */
export const reportGap = async (
  { client, agentId }: Settler,
  gap: {
    readonly action: string
    readonly callId: string
    readonly outcome: 'success' | 'failure' | 'unknown'
  },
): Promise<void> => {
  await append(client, {
    action: gap.action,
    ...(agentId !== undefined && { agent_id: agentId }),
    decision_id: null,
    metadata: { call_id: gap.callId },
    outcome: gap.outcome,
  })
}

type Entry = Parameters<Client['appendEntry']>[0]['body']

const append = async (client: Client, entry: Entry): Promise<void> => {
  const idempotencyKey = await settlementKey(entry as Json)
  await client.appendEntry({ body: entry, idempotencyKey, retries: 3, timeoutMs: ATTEMPT_MS })
}
