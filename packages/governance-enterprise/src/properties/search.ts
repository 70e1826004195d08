import { fail } from '@remit/core/base'
import type { PropertyResult } from '@remit/contract'
import type { Overlay } from '@remit/core/decision'
import type { Deps } from '@remit/core/module'
import { ComputePool, siblingModule, Turns } from '@remit/core/threads'
import { readRules, versionOf } from './rules.ts'
import { searchJob } from './search-job.ts'
import type { NamedProperty, SearchInput } from './search-job.ts'
import type { PlannedRules } from '../policies/overlay.ts'

/** Milliseconds for one property, and for all of a call, which divide them. */
const TIMES = { eachMs: 10_000, allMs: 40_000 }
/** Milliseconds for what follows: a preview of each request that was found, a replay, the entry. */
const REST_MS = 15_000
/** A call that has less time would find nothing. */
const LEAST_MS = 5_000
/** To load the rules, and to end a condition that does not look at the clock. */
const GRACE_MS = 5_000
const MAX_HEAP_MB = 384
/** Starting a thread takes longer than most searches. */
const IDLE_MS = 60_000

const SEARCHES = new Turns({
  size: 2,
  each: 1,
  waiting: { each: 4, total: 16 },
  patienceMs: 20_000,
})

const WORKER = siblingModule(import.meta.url, 'worker')

export interface SearchOptions {
  readonly signal?: AbortSignal
  /** The `performance.now()` by which the request with the search must be answered. */
  readonly until?: number
  readonly times?: typeof TIMES
}

type SearchDeps = Pick<Deps, 'db' | 'clock' | 'decider' | 'offered'>

/**
 * Searches requests for which the rules with an overlay, validated before, make the decision that a property
 * excludes. Every agent counts as active. Returns a result for each property, in their order: `violated` with a
 * request that a preview with the same overlay decides so, `proved` if no request can, else `searched`.
 * Rejects with `jobs_busy` if too many searches wait or too little time is left, with `rules_changed` if the rules
 * change meanwhile, and with the reason of `signal`.
 *
 * @example
 * const [result] = await searchProperties(deps, orgId, { overlay, added: [] }, [
 *   { name: 'no-free-payments', spec: PropertySpec.parse({ for: { actions: ['pay.*'] }, never: 'allow' }) },
 * ])
 */
export function searchProperties(
  deps: SearchDeps,
  orgId: string,
  { overlay, added }: PlannedRules,
  properties: readonly NamedProperty[],
  { signal, until = Infinity, times = TIMES }: SearchOptions = {},
): Promise<PropertyResult[]> {
  const search = async () => {
    const leftMs = until - performance.now() - REST_MS
    if (leftMs < LEAST_MS) throw fail('jobs_busy', 'Too little time is left for the search')
    const active: Overlay = { ...overlay, agents_are_active: true }
    const version = await versionOf(deps.db, orgId)
    const input = {
      orgId,
      rules: await readRules(deps, orgId, { overlay, properties }),
      overlay: active,
      added,
      properties,
      now: deps.clock.now(),
      eachMs: times.eachMs,
      allMs: Math.min(times.allMs, leftMs),
    }
    const found = await inThread(input, signal)
    const results = properties.map(
      (one, i) => found[i] ?? unfinished(one, 'the search took too much time or memory'),
    )
    return Promise.all(
      results.map((one, i) => confirmed(deps, input, version, properties[i]?.spec.never, one)),
    )
  }
  return properties.length === 0 ? Promise.resolve([]) : SEARCHES.run(orgId, search, signal)
}

async function inThread(
  input: SearchInput,
  signal: AbortSignal | undefined,
): Promise<readonly PropertyResult[]> {
  const pool = takeThread()
  const abort = () => void pool.close()
  signal?.addEventListener('abort', abort, { once: true })
  try {
    signal?.throwIfAborted()
    return (await pool.run(input.orgId, searchJob, input, input.allMs + GRACE_MS)).parts
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

/**
 * Returns `searched` for a counterexample that live stages decide otherwise, for example because an agent was not among
 * those that the search read; throws `rules_changed` if the search may have read other rules.
 */
async function confirmed(
  { db, decider }: SearchDeps,
  { orgId, overlay }: SearchInput,
  version: number,
  never: 'allow' | 'deny' | undefined,
  result: PropertyResult,
): Promise<PropertyResult> {
  const { counterexample, because } = result
  if (!counterexample) return result
  const { at, resource, ...asked } = counterexample
  const request = { ...asked, ...(resource !== null && { resource }) }
  const options = { at: Date.parse(at), overlay, without: new Set(['spend_limit'] as const) }
  const [preview] = await decider.preview(orgId, 'enterprise', [request], options)
  if (preview?.decision === never) return result
  if ((await versionOf(db, orgId)) !== version)
    throw fail(
      'rules_changed',
      `The rules changed during the search of the property ${result.name}`,
    )
  const { agent_id: agent, action } = asked
  const why = `a request of the agent ${agent} for ${action} was found, but live decisions say ${preview?.decision} to it`
  return { ...result, result: 'searched', because: [why, ...because], counterexample: null }
}
