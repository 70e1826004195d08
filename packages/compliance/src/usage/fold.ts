import type { Meter } from '@remit/contract'
import { isRecord, readData } from '@remit/contract/entries'
import { dataIn } from '../facts/entry.ts'

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
    } else if (kind === 'guard.counted') this.#checks += readData(kind, dataIn(payload)).checks ?? 0
    else if (kind === 'guard.checked') this.#checks += 1
    else if (kind === 'scorer.ran') {
      const { count, facts } = readData(kind, dataIn(payload))
      this.#results += count ?? 0
      this.#judgeCalls += callsIn(facts?.['usage'])
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

/** The calls that a judge reports among the facts of a scorer. */
function callsIn(usage: unknown): number {
  const calls = isRecord(usage) ? usage['calls'] : null
  return typeof calls === 'number' && Number.isSafeInteger(calls) && calls > 0 ? calls : 0
}
