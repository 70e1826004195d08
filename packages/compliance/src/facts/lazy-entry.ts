import type { Actor } from '@remit/contract'
import type { DecisionFacts } from './decision.ts'
import type { FactEntry, FactRow } from './entry.ts'
import { isRecord, recordIn, textIn } from './read.ts'
import type { Recorded } from './read.ts'
import { scanDecision } from './scan-decision.ts'
import type { ScannedDecision } from './scan-decision.ts'
import { decisionOf } from './slow-decision.ts'

const NOTHING: Recorded = {}
export const DECIDED = 'authorization.decided'

/** An entry whose payload is read when somebody asks, and of a decision no more than is asked for. */
export class LazyEntry implements FactEntry {
  readonly seq: number
  readonly time: number
  readonly kind: string
  readonly #text: string | null
  #payload: Recorded | null | undefined
  #scanned: ScannedDecision | null | undefined

  constructor({ seq, kind, payload }: FactRow, time: number) {
    this.seq = seq
    this.time = time
    this.kind = kind
    this.#text = payload
  }

  get erased(): boolean {
    return this.#fast === null && this.#slow === null
  }

  get actor(): Actor | null {
    const actor = this.#slow && recordIn(this.#slow, 'actor')
    const id = actor && textIn(actor, 'id')
    const type = actor && textIn(actor, 'type')
    return id !== null && type !== null ? { id, type } : null
  }

  get agent_id(): string | null {
    return this.#member('agent_id')
  }

  get action(): string | null {
    return this.#member('action')
  }

  get resource(): string | null {
    return this.#member('resource')
  }

  get decision(): string | null {
    return this.#member('decision')
  }

  get reason(): string | null {
    return this.#member('reason')
  }

  get data(): Recorded {
    return (this.#slow && recordIn(this.#slow, 'data')) ?? NOTHING
  }

  get decided(): DecisionFacts | null {
    if (this.kind !== DECIDED) return null
    return this.#fast ?? (this.#slow && decisionOf(this.data))
  }

  #member(name: 'agent_id' | 'action' | 'resource' | 'decision' | 'reason'): string | null {
    const fast = this.#fast
    if (fast) return fast[name]
    return this.#slow && textIn(this.#slow, name)
  }

  /** A decision by its scan; null for other kinds, and for a text that is not as the writer writes it. */
  get #fast(): ScannedDecision | null {
    if (this.#scanned !== undefined) return this.#scanned
    return (this.#scanned =
      this.kind === DECIDED && this.#text !== null ? scanDecision(this.#text) : null)
  }

  /** The whole payload. */
  get #slow(): Recorded | null {
    if (this.#payload !== undefined) return this.#payload
    return (this.#payload = parse(this.#text))
  }
}

function parse(text: string | null): Recorded | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}
