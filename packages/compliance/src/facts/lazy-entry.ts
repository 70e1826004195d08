import type { Actor } from '@remit/contract'
import type { DecisionFacts } from './decision.ts'
import type { FactEntry, FactRow } from './entry.ts'
import { isRecord, recordIn, textIn } from './recorded-json.ts'
import type { RecordedJson } from './recorded-json.ts'
import { decisionOf } from './parsed-decision.ts'

const NOTHING: RecordedJson = {}
export const DECIDED = 'authorization.decided'

/** An entry whose payload is parsed on first access. */
export class LazyEntry implements FactEntry {
  readonly seq: number
  readonly time: number
  readonly kind: string
  readonly erased: boolean
  readonly #text: string | null
  #payload: RecordedJson | null | undefined

  constructor({ seq, kind, payload }: FactRow, time: number) {
    this.seq = seq
    this.time = time
    this.kind = kind
    this.erased = payload === null
    this.#text = payload
  }

  get actor(): Actor | null {
    return actorIn(this.#parsed)
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

  get data(): RecordedJson {
    return dataIn(this.#parsed)
  }

  get decided(): DecisionFacts | null {
    return this.kind === DECIDED && this.#parsed ? decisionOf(this.data) : null
  }

  #member(name: string): string | null {
    return this.#parsed && textIn(this.#parsed, name)
  }

  get #parsed(): RecordedJson | null {
    if (this.#payload === undefined) this.#payload = parsePayload(this.#text)
    return this.#payload
  }
}

/** Parses a payload as an object; null if it is not one. */
export function parsePayload(text: string | null): RecordedJson | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

export function actorIn(payload: RecordedJson | null): Actor | null {
  const actor = payload && recordIn(payload, 'actor')
  const id = actor && textIn(actor, 'id')
  const type = actor && textIn(actor, 'type')
  return id !== null && type !== null ? { id, type } : null
}

export const dataIn = (payload: RecordedJson | null): RecordedJson =>
  (payload && recordIn(payload, 'data')) ?? NOTHING
