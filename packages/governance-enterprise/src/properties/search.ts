import { fail } from '@remit/core/base'
import type { PropertyResult } from '@remit/contract'
import type { Overlay } from '@remit/core/decision'
import type { Deps } from '@remit/core/module'
import { ComputePool, siblingModule, Turns } from '@remit/core/threads'
import { readRules } from './rules.ts'
import { searchJob } from './search-job.ts'
import type { NamedProperty } from './search-job.ts'

/** Milliseconds for one property, and for all of a call. */
const EACH_MS = 10_000
const ALL_MS = 60_000
/** To load the rules, and to end a condition that does not look at the clock. */
const GRACE_MS = 5_000
const MAX_HEAP_MB = 384
/** Starting a thread takes longer than most searches. */
const IDLE_MS = 60_000

const SEARCHES = new Turns({ size: 2, each: 1, waiting: { each: 4, total: 16 } })

const WORKER = siblingModule(import.meta.url, 'worker')

/**
 * Searches requests for which the rules with an overlay, validated before, make the decision that a property
 * excludes. Every agent counts as active. Returns a result for each property, in their order: `violated` with a
 * request that a preview with the same overlay decides so, `proved` if no request can, else `searched`.
 * Rejects with `jobs_busy` if too many searches wait, with `rules_changed` if they change meanwhile, and with
 * the reason of `signal`.
 *
 * @example
 * const [result] = await searchProperties(deps, orgId, overlay, [
 *   { name: 'no-free-payments', spec: PropertySpec.parse({ for: { actions: ['pay.*'] }, never: 'allow' }) },
 * ])
 */
export function searchProperties(
  deps: Pick<Deps, 'db' | 'clock' | 'decider' | 'offered'>,
  orgId: string,
  overlay: Overlay,
  properties: readonly NamedProperty[],
  signal?: AbortSignal,
): Promise<PropertyResult[]> {
  const active: Overlay = { ...overlay, agents_are_active: true }
  const search = async () => {
    const found = await inThread(deps, orgId, active, properties, signal)
    const results = properties.map(
      (one, i) => found[i] ?? unfinished(one, 'the search took too much time or memory'),
    )
    return Promise.all(
      results.map((one, i) => confirmed(deps, orgId, active, properties[i]?.spec.never, one)),
    )
  }
  return properties.length === 0 ? Promise.resolve([]) : SEARCHES.run(orgId, search, signal)
}

async function inThread(
  { db, clock, offered }: Pick<Deps, 'db' | 'clock' | 'offered'>,
  orgId: string,
  overlay: Overlay,
  properties: readonly NamedProperty[],
  signal: AbortSignal | undefined,
): Promise<readonly PropertyResult[]> {
  const rules = await readRules(db, offered, orgId)
  const limits = { now: clock.now(), eachMs: EACH_MS, allMs: ALL_MS }
  const pool = takeThread()
  const abort = () => void pool.close()
  signal?.addEventListener('abort', abort, { once: true })
  try {
    signal?.throwIfAborted()
    const input = { orgId, rules, overlay, properties, ...limits }
    return (await pool.run(orgId, searchJob, input, ALL_MS + GRACE_MS)).parts
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
    if (!signal?.aborted) restThread(pool)
  }
}

/** Threads that wait for the next search, with the timer of their end. */
const idle = new Map<ComputePool, NodeJS.Timeout>()

function takeThread(): ComputePool {
  for (const [pool, timer] of idle) {
    clearTimeout(timer)
    idle.delete(pool)
    return pool
  }
  return new ComputePool(1, MAX_HEAP_MB, WORKER)
}

function restThread(pool: ComputePool): void {
  const end = () => {
    idle.delete(pool)
    void pool.close()
  }
  idle.set(pool, setTimeout(end, IDLE_MS).unref())
}

const unfinished = ({ name, spec }: NamedProperty, why: string): PropertyResult => ({
  name,
  result: 'searched',
  require: spec.require,
  cases: 0,
  of: 0,
  because: [why],
  counterexample: null,
})

/** Throws `rules_changed` if live stages decide a counterexample otherwise: the search read other rules. */
async function confirmed(
  { decider }: Pick<Deps, 'decider'>,
  orgId: string,
  overlay: Overlay,
  never: 'allow' | 'deny' | undefined,
  result: PropertyResult,
): Promise<PropertyResult> {
  const { counterexample } = result
  if (!counterexample) return result
  const { at, resource, ...asked } = counterexample
  const request = { ...asked, ...(resource !== null && { resource }) }
  const options = { at: Date.parse(at), overlay, without: new Set(['spend_limit'] as const) }
  const [preview] = await decider.preview(orgId, 'enterprise', [request], options)
  if (preview?.decision === never) return result
  throw fail('rules_changed', `The rules changed during the search of the property ${result.name}`)
}
