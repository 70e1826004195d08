import type { Meter } from '@remit/contract'

/** The columns of an entry that usage is counted from. */
export interface UsageEntry {
  readonly kind: string
  readonly agent_id: string | null
  /** Only of kinds whose data counts. */
  readonly payload: string | null
}

/** Kinds whose payload says how much was used. */
export const COUNTED_KINDS = ['guard.counted', 'guard.checked', 'scorer.ran'] as const

/** Counts the usage of one hour from its entries. */
export class HourCount {
  #entries = 0
  #decisions = 0
  #checks = 0
  #results = 0
  #judgeCalls = 0
  readonly #agents = new Set<string>()

  add({ kind, agent_id, payload }: UsageEntry): void {
    this.#entries += 1
    if (kind === 'authorization.decided') {
      this.#decisions += 1
      if (agent_id !== null) this.#agents.add(agent_id)
    } else if (kind === 'guard.counted') this.#checks += memberOf(payload, 'checks')
    else if (kind === 'guard.checked') this.#checks += 1
    else if (kind === 'scorer.ran') {
      this.#results += memberOf(payload, 'count')
      this.#judgeCalls += memberOf(payload, 'facts', 'usage', 'calls')
    }
  }

  /** The meters with a count. */
  counts(): [Meter, number][] {
    const all: [Meter, number][] = [
      ['decisions', this.#decisions],
      ['entries', this.#entries],
      ['active_agents', this.#agents.size],
      ['guard_checks', this.#checks],
      ['scorer_results', this.#results],
      ['judge_calls', this.#judgeCalls],
    ]
    return all.filter(([, count]) => count > 0)
  }
}

/** A number in the data of an entry; 0 for an erased payload. */
function memberOf(payload: string | null, ...path: readonly string[]): number {
  if (payload === null) return 0
  const { data } = JSON.parse(payload) as { data?: unknown }
  const value = path.reduce<unknown>(
    (inner, name) => (inner as Readonly<Record<string, unknown>> | null | undefined)?.[name],
    data,
  )
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
