import type { Actor } from '@remit/contract'
import { isRecord, readData } from '@remit/contract/entries'
import type { EntryKind, EntryReading, RecordedJson } from '@remit/contract/entries'
import { byWindow, toMicroUsd } from '@remit/contract/values'
import type { ByWindow } from '@remit/contract/values'

/** The part of an entry that the fold needs: the hashed fields, without the search columns. */
export interface FactRow {
  readonly seq: number
  /** RFC 3339, UTC, milliseconds. */
  readonly recorded_at: string
  readonly kind: string
  /** Canonical JSON; null once erased. */
  readonly payload: string | null
}

export const DECIDED = 'authorization.decided' satisfies EntryKind

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
    const actor = this.#parsed?.['actor']
    if (!isRecord(actor)) return null
    const { id, type } = actor
    return typeof id === 'string' && typeof type === 'string' ? { id, type } : null
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

  /** The data as an entry of a kind has it; every member is null when erased. */
  read<Kind extends EntryKind>(kind: Kind): EntryReading<Kind> {
    return readData(kind, this.#parsed?.['data'])
  }

  /** The recorded decision of an `authorization.decided` entry; null for other kinds and when erased. */
  get decided(): DecisionFacts | null {
    if (this.#decided === undefined)
      this.#decided = this.kind === DECIDED && this.#parsed ? decisionOf(this.read(DECIDED)) : null
    return this.#decided
  }

  #member(name: string): string | null {
    const value = this.#parsed?.[name]
    return typeof value === 'string' ? value : null
  }

  get #parsed(): RecordedJson | null {
    if (this.#payload === undefined) this.#payload = parsePayload(this.#text)
    return this.#payload
  }
}

/** Returns the `data` of a payload, for `readData`; undefined if it has none. */
export const dataIn = (text: string | null): unknown => parsePayload(text)?.['data']

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

/** A moment (RFC 3339) in milliseconds; null for any other text. */
export function timeOf(text: string | null): number | null {
  const time = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** An amount in USD in micro-USD; null from 2^53 on. */
export function microOf(usd: number | null): number | null {
  const micro = usd === null ? null : toMicroUsd(usd)
  return Number.isSafeInteger(micro) ? micro : null
}

/** The data of an `authorization.decided` entry, without the context of the request. */
export interface DecisionFacts {
  /** Identifies the rules of the decision; null if the entry has none. */
  readonly configVersion: number | null
  readonly plan: string | null
  /** The number of rules and grants that matched; null if the entry has no list of them. */
  readonly matches: number | null
  /** True if a policy, a permission or an approval rule matched. */
  readonly isGoverned: boolean
  /** The matches; empty without a list. */
  readonly matched: readonly Matched[]
  readonly approval: { readonly id: string; readonly status: string } | null
  readonly spend: RecordedSpend | null
  /** The request contained an amount that is not valid in USD, and no limit refused it. */
  readonly hasInvalidAmount: boolean
  /** The `uid` of each enforced budget in US dollars that counts the request. */
  readonly budgets: readonly string[]
  /** The observed rules that matched, as `KIND:ID:WOULD`; `*:incomplete` if some were not evaluated. */
  readonly observed: readonly string[]
  /** The amount held by the allow, in micro-USD; 0 if none. */
  readonly heldMicro: number
}

export interface Matched {
  readonly kind: string
  readonly id: string
}

/** Kinds of matches that govern. A spend limit or a setting does not grant anything. */
const GOVERNING: ReadonlySet<string> = new Set(['policy', 'permission', 'approval_rule'])

/** The usage before the request, and the caps; in micro-USD. */
export interface RecordedSpend {
  readonly amountMicro: number | null
  readonly windows: ByWindow<RecordedWindow | null>
}

export interface RecordedWindow {
  readonly limitMicro: number
  readonly spentMicro: number
}

type Decided = EntryReading<typeof DECIDED>

function decisionOf(data: Decided): DecisionFacts {
  const { approval, spend } = data
  const matched = data.matched?.map(({ kind, id }) => ({ kind: kind ?? '', id: id ?? '' }))
  return {
    configVersion: data.config_version,
    plan: data.plan,
    matches: matched?.length ?? null,
    isGoverned: matched?.some(({ kind }) => GOVERNING.has(kind)) ?? false,
    matched: matched ?? [],
    approval:
      approval && approval.id !== null ? { id: approval.id, status: approval.status ?? '' } : null,
    spend: spend && {
      amountMicro: microOf(spend.amount_usd),
      windows: byWindow('name', ({ word }) => windowOf(spend[word])),
    },
    hasInvalidAmount: data.amount_invalid === true,
    budgets: (data.charges ?? [])
      .filter(({ unit, observed }) => unit === 'usd' && observed !== true)
      .flatMap(({ uid }) => uid ?? []),
    observed: observedOf(data),
    heldMicro: microOf(data.hold?.usd ?? null) ?? 0,
  }
}

function observedOf({ observed, observed_incomplete }: Decided): string[] {
  const keys = (observed ?? []).map(({ kind, id, would }) => `${kind}:${id}:${would}`)
  return observed_incomplete === true ? [...keys, '*:incomplete'] : keys
}

function windowOf(window: NonNullable<Decided['spend']>['daily']): RecordedWindow | null {
  const limitMicro = microOf(window?.limit_usd ?? null)
  const spentMicro = microOf(window?.spent_usd ?? null)
  return limitMicro !== null && spentMicro !== null ? { limitMicro, spentMicro } : null
}
