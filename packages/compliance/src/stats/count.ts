import type { StatKey } from '@remit/contract'
import type { FactEntry } from '../facts/index.ts'
import type { StatBucketRow } from '../tables/stats.ts'

/** Values of one fact in one bucket; further ones are counted together. */
const MAX_KEYS = 200
export const OTHERS = '*'

type Counted = Omit<StatBucketRow, 'org_id'>

/** Counts decisions by minute and hour, and by each fact. */
export class Counter {
  readonly #rows = new Map<string, Map<string, Counted>>()

  add(
    entry: Pick<FactEntry, 'time' | 'decision' | 'reason' | 'agent_id' | 'action' | 'decided'>,
  ): void {
    const { decision, reason, agent_id, action, decided } = entry
    if (decision === null || !decided) return
    const micro = decision === 'allow' ? decided.heldMicro : 0
    const time = new Date(entry.time).toISOString()
    const put = (dimension: StatKey, key: string | null) => {
      if (key === null) return
      this.#put('minute', time.slice(0, 16), dimension, key, micro)
      this.#put('hour', time.slice(0, 13), dimension, key, micro)
    }
    put('decision', decision)
    put('reason', reason)
    put('agent', agent_id)
    put('action', action)
    if (decision === 'deny') {
      put('denied_agent', agent_id)
      put('denied_action', action)
    }
    for (const key of decided.observed) put('observed', key)
    for (const { kind, id } of decided.matched) if (kind === 'policy') put('policy', id)
  }

  rows(): Counted[] {
    return [...this.#rows.values()].flatMap((counts) => [...counts.values()])
  }

  #put(
    size: Counted['size'],
    bucket: string,
    dimension: StatKey,
    asked: string,
    micro: number,
  ): void {
    const place = `${dimension} ${bucket}`
    const counts = this.#rows.get(place) ?? new Map<string, Counted>()
    this.#rows.set(place, counts)
    const key = counts.has(asked) || counts.size < MAX_KEYS ? asked : OTHERS
    const row = counts.get(key)
    if (row) {
      row.count += 1
      row.micro += micro
    } else counts.set(key, { size, dimension, bucket, key, count: 1, micro })
  }
}
