import { celError, celList, celMap } from '@bufbuild/cel'
import type { CelInput } from '@bufbuild/cel'
import { timestampFromMs, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { reflect } from '@bufbuild/protobuf/reflect'
import { memoOf } from '@remit/core/decision'
import type { Ask } from '@remit/core/decision'
import { fromMicroUsd } from '@remit/contract/values'
import { amountOf, FAILED, seenContext } from '../base/seen-context.ts'
import { isRecord } from './direct.ts'
import { AMOUNT, AMOUNT_RECORD, AUTHORIZE_VARIABLES } from './types.ts'

/** The values that conditions read, by variable. */
export interface BoundFacts {
  /** As received: JSON values; a `Date` is a timestamp. */
  readonly values: Readonly<Record<string, unknown>>
  /** The same values for the CEL library. */
  readonly bindings: Readonly<Record<string, CelInput>>
}

/** The facts of a request, the same for all rules and stages. */
export function factsOf(ask: Ask): BoundFacts {
  const memo = memoOf(ask) as { facts?: BoundFacts }
  return (memo.facts ??= new LazyFacts(new AskValues(ask), NAMES))
}

/**
 * Facts for requests other than `/v1/authorize`, or with the places in `context` that were replaced; a
 * `Date` becomes a CEL timestamp.
 */
export function makeFacts(
  values: Readonly<Record<string, unknown>>,
  replaced?: readonly string[],
): BoundFacts {
  const context = values['context'] as Record<string, unknown> | undefined
  const seen = context ? { ...values, context: seenContext({ context, replaced }) } : values
  return new LazyFacts(seen, Object.keys(values))
}

class LazyFacts implements BoundFacts {
  readonly values: BoundFacts['values']
  readonly #names: readonly string[]
  #bindings: BoundFacts['bindings'] | undefined

  constructor(values: BoundFacts['values'], names: readonly string[]) {
    this.values = values
    this.#names = names
  }

  /** Most conditions do not need them. */
  get bindings(): BoundFacts['bindings'] {
    if (!this.#bindings) {
      const bindings = Object.create(null) as Record<string, CelInput>
      for (const name of this.#names) {
        const value = this.values[name]
        bindings[name] = value === undefined || value === null ? UNREADABLE : wrap(value)
      }
      this.#bindings = bindings
    }
    return this.#bindings
  }
}

/** The library takes a variable without a value for an empty one in `has`. */
const UNREADABLE = celError('the request has no such value') as unknown as CelInput
const NONE = {}
const NAMES = Object.keys(AUTHORIZE_VARIABLES)

interface AmountRecord {
  readonly [AMOUNT]?: number
}

function amountRecordOf(context: unknown): AmountRecord | 'invalid' {
  // A context that was replaced as a whole.
  if (!isRecord(context)) return 'invalid'
  const amount = amountOf(context)
  if (typeof amount === 'object') return { [AMOUNT]: fromMicroUsd(amount.micro) }
  return amount === 'missing' ? NONE : amount
}

/** The values of a request; rarely used ones are computed on first read. */
class AskValues {
  readonly [variable: string]: unknown
  readonly action: string
  readonly agent_id: string
  readonly context: Readonly<Record<string, unknown>>
  readonly #ask: Ask
  #resource: Readonly<Record<string, unknown>> | undefined
  #amount: AmountRecord | 'invalid' | undefined

  constructor(ask: Ask) {
    this.#ask = ask
    this.action = ask.request.action
    this.agent_id = ask.request.agent_id
    this.context = seenContext(ask.request)
  }

  get resource(): Readonly<Record<string, unknown>> {
    return (this.#resource ??= partsOf(this.#ask.request.resource))
  }

  get agent(): Readonly<Record<string, unknown>> {
    return this.#ask.agent ?? {}
  }

  get subject(): Readonly<Record<string, unknown>> {
    return this.#ask.claims.subject ?? { type: 'agent', id: this.agent_id }
  }

  get action_properties(): Readonly<Record<string, unknown>> {
    return this.#ask.claims.actionProperties ?? NONE
  }

  get now(): Date {
    return new Date(this.#ask.now)
  }

  /** The amount that spend limits count; undefined if there is none, or if it is invalid. */
  get [AMOUNT](): number | undefined {
    return this[AMOUNT_RECORD]?.[AMOUNT]
  }

  /** Undefined if the amount is invalid. */
  get [AMOUNT_RECORD](): AmountRecord | undefined {
    this.#amount ??= amountRecordOf(this.context)
    return this.#amount === 'invalid' ? undefined : this.#amount
  }
}

/** Splits `type:id`; text without a colon is an id. */
function partsOf(resource: Ask['request']['resource']): Record<string, unknown> {
  if (resource === undefined || resource === '') return NONE
  if (typeof resource === 'object') return { properties: NONE, ...resource }
  const colon = resource.indexOf(':')
  const id = resource.slice(colon + 1)
  return { ...(colon > 0 && { type: resource.slice(0, colon) }), id, properties: NONE }
}

/** The value that rules read at or below a place that was replaced or omitted. */
const unseen = celError('the value is not in the request: it was too deep, too large or omitted')

/**
 * A JSON value for CEL. Plain objects are wrapped: the library would take one with a member
 * `$typeName` for a protobuf message, and the rule would evaluate another value than the tool
 * receives. Null members are omitted, so null equals absent.
 */
function wrap(value: unknown): CelInput {
  if (typeof value !== 'object' || value === null) return value as CelInput
  if (value instanceof Date) return reflect(TimestampSchema, timestampFromMs(value.getTime()))
  if (Array.isArray(value))
    return value.includes(FAILED) ? partialList(value) : celList(value.map(wrap))
  const members = new Map<string, CelInput>()
  let isPartial = false
  for (const [name, member] of Object.entries(value)) {
    if (member === null || member === undefined) continue
    isPartial ||= member === FAILED
    members.set(name, member === FAILED ? null : wrap(member))
  }
  return isPartial ? partialMap(members, value as Record<string, unknown>) : celMap(members)
}

// The library passes errors on, and cannot be given them: it takes no error as an input.

function partialList(items: readonly unknown[]): CelInput {
  const parts = items.map((item) => (item === FAILED ? null : wrap(item)))
  const list = celList(parts)
  const get = (index: number) => (items[index] === FAILED ? unseen : list.get(index))
  return Object.assign(celList(parts), {
    get,
    *values() {
      for (let index = 0; index < items.length; index++) yield get(index)
    },
  })
}

function partialMap(
  members: ReadonlyMap<string, CelInput>,
  record: Readonly<Record<string, unknown>>,
): CelInput {
  const map = celMap(members)
  const isUnseen = (key: unknown) =>
    typeof key === 'string' && Object.hasOwn(record, key) && record[key] === FAILED
  const get = (key: string) => (isUnseen(key) ? unseen : map.get(key))
  return Object.assign(celMap(members), {
    get,
    has: (key: string) => (isUnseen(key) ? unseen : map.has(key)),
    *entries() {
      for (const key of members.keys()) yield [key, get(key)]
    },
  })
}
