import { celList, celMap } from '@bufbuild/cel'
import type { CelInput } from '@bufbuild/cel'
import { timestampFromMs, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { reflect } from '@bufbuild/protobuf/reflect'
import type { Ask } from '@remit/core'
import { attributesOf } from './agent-attributes.ts'
import { AUTHORIZE_VARIABLES } from './types.ts'

/** What conditions read, by the name of the variable. */
export interface Facts {
  /** As they came: JSON values; a `Date` is a moment. */
  readonly values: Readonly<Record<string, unknown>>
  /** The same as the CEL library takes them. */
  readonly bindings: Readonly<Record<string, CelInput>>
}

let last: { readonly ask: Ask; readonly facts: Facts } | null = null

/**
 * The facts of a request. One request is decided after the other, by every rule and stage, so keeping
 * the last one's facts is enough to make them once a request.
 */
export function factsOf(ask: Ask): Facts {
  if (last?.ask !== ask) last = { ask, facts: new LazyFacts(new AskValues(ask), NAMES) }
  return last.facts
}

/** Facts by hand, for other questions than `/v1/authorize`; a `Date` becomes a CEL timestamp. */
export const makeFacts = (values: Readonly<Record<string, unknown>>): Facts =>
  new LazyFacts(values, Object.keys(values))

class LazyFacts implements Facts {
  readonly values: Facts['values']
  readonly #names: readonly string[]
  #bindings: Facts['bindings'] | undefined

  constructor(values: Facts['values'], names: readonly string[]) {
    this.values = values
    this.#names = names
  }

  /** Most conditions are answered without. */
  get bindings(): Facts['bindings'] {
    if (!this.#bindings) {
      const bindings = Object.create(null) as Record<string, CelInput>
      for (const name of this.#names) bindings[name] = wrap(this.values[name])
      this.#bindings = bindings
    }
    return this.#bindings
  }
}

const NONE = {}
const NAMES = Object.keys(AUTHORIZE_VARIABLES)

/** What a request says; what few conditions read is made when it is read. */
class AskValues {
  readonly [variable: string]: unknown
  readonly action: string
  readonly agent_id: string
  readonly context: Readonly<Record<string, unknown>>
  readonly #ask: Ask
  #resource: Readonly<Record<string, unknown>> | undefined

  constructor(ask: Ask) {
    this.#ask = ask
    this.action = ask.request.action
    this.agent_id = ask.request.agent_id
    this.context = ask.request.context ?? NONE
  }

  get resource(): Readonly<Record<string, unknown>> {
    return (this.#resource ??= partsOf(this.#ask.request.resource))
  }

  get agent(): Readonly<Record<string, unknown>> {
    return attributesOf(this.#ask)
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
}

/** `type:id` in parts; without a colon there is only an id. */
function partsOf(resource: Ask['request']['resource']): Record<string, unknown> {
  if (resource === undefined || resource === '') return NONE
  if (typeof resource === 'object') return { properties: NONE, ...resource }
  const colon = resource.indexOf(':')
  const id = resource.slice(colon + 1)
  return { ...(colon > 0 && { type: resource.slice(0, colon) }), id, properties: NONE }
}

/**
 * A JSON value as CEL sees it. Plain objects never reach the library: it would take one with a member
 * `$typeName` for a protobuf message, and a rule would judge another value than the tool receives. A
 * member that is null is left out, so that null and absent are one.
 */
function wrap(value: unknown): CelInput {
  if (typeof value !== 'object' || value === null) return value as CelInput
  if (value instanceof Date) return reflect(TimestampSchema, timestampFromMs(value.getTime()))
  if (Array.isArray(value)) return celList(value.map(wrap))
  const members = new Map<string, CelInput>()
  for (const [name, member] of Object.entries(value)) {
    if (member !== null && member !== undefined) members.set(name, wrap(member))
  }
  return celMap(members)
}
