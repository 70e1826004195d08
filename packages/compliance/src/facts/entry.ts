import type { Actor } from '@remit/contract'
import { GOVERNING } from './outcome.ts'
import type { DecisionFacts, RecordedSpend, RecordedWindow } from './outcome.ts'
import { isRecord, countIn, microIn, recordIn, textIn, recordsIn } from './recorded-json.ts'
import type { RecordedJson } from './recorded-json.ts'

/** The part of an entry that the fold needs: the hashed fields, without the search columns. */
export interface FactRow {
  readonly seq: number
  /** RFC 3339, UTC, milliseconds. */
  readonly recorded_at: string
  readonly kind: string
  /** Canonical JSON; null once erased. */
  readonly payload: string | null
}

const NOTHING: RecordedJson = {}
export const DECIDED = 'authorization.decided'

/** An entry as meters and the state read it. The payload is parsed on first access. */
export class FactEntry {
  readonly seq: number
  /** Milliseconds. */
  readonly time: number
  readonly kind: string
  /** The payload was erased; the other members are then null or empty. */
  readonly erased: boolean
  readonly #text: string | null
  #payload: RecordedJson | null | undefined
  #decided: DecisionFacts | null | undefined

  constructor({ seq, kind, payload }: FactRow, time: number) {
    this.seq = seq
    this.time = time
    this.kind = kind
    this.erased = payload === null
    this.#text = payload
  }

  get actor(): Actor | null {
    const actor = this.#parsed && recordIn(this.#parsed, 'actor')
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

  /** `{}` when erased. */
  get data(): RecordedJson {
    return (this.#parsed && recordIn(this.#parsed, 'data')) ?? NOTHING
  }

  /** The recorded decision of an `authorization.decided` entry; null for other kinds and when erased. */
  get decided(): DecisionFacts | null {
    if (this.#decided === undefined)
      this.#decided = this.kind === DECIDED && this.#parsed ? decisionOf(this.data) : null
    return this.#decided
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
function parsePayload(text: string | null): RecordedJson | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

/** Reads the data of a decision from parsed JSON. */
function decisionOf(data: RecordedJson): DecisionFacts {
  const approval = recordIn(data, 'approval')
  const id = approval && textIn(approval, 'id')
  const matched = recordsIn(data, 'matched').map((one) => ({
    kind: textIn(one, 'kind') ?? '',
    id: textIn(one, 'id') ?? '',
  }))
  return {
    configVersion: countIn(data, 'config_version'),
    plan: textIn(data, 'plan'),
    matches: Array.isArray(data['matched']) ? matched.length : null,
    isGoverned: matched.some(({ kind }) => GOVERNING.has(kind)),
    matched,
    approval: approval && id !== null ? { id, status: textIn(approval, 'status') ?? '' } : null,
    spend: spendOf(recordIn(data, 'spend')),
    hasInvalidAmount: data['amount_invalid'] === true,
    heldMicro: holdOf(recordIn(data, 'hold')),
    contextText: (name) => textIn(recordIn(data, 'context') ?? {}, name),
  }
}

function spendOf(spend: RecordedJson | null): RecordedSpend | null {
  if (!spend) return null
  return {
    amountMicro: microIn(spend, 'amount_usd'),
    daily: windowOf(recordIn(spend, 'daily')),
    monthly: windowOf(recordIn(spend, 'monthly')),
  }
}

const holdOf = (hold: RecordedJson | null): number => (hold && microIn(hold, 'usd')) ?? 0

function windowOf(window: RecordedJson | null): RecordedWindow | null {
  const limitMicro = window && microIn(window, 'limit_usd')
  const spentMicro = window && microIn(window, 'spent_usd')
  return limitMicro !== null && spentMicro !== null ? { limitMicro, spentMicro } : null
}
