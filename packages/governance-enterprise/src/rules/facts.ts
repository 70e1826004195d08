import { celList, celMap } from '@bufbuild/cel'
import type { CelInput } from '@bufbuild/cel'
import { timestampFromMs, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { reflect } from '@bufbuild/protobuf/reflect'
import type { Ask } from '@remit/core'

/** What conditions read, by the name of the variable. */
export interface Facts {
  readonly [variable: string]: CelInput
}

const wrapped = new WeakMap<Ask, Facts>()

/** The facts of a request. They are made once a request, whoever asks for them first. */
export function factsOf(ask: Ask): Facts {
  let facts = wrapped.get(ask)
  if (!facts) wrapped.set(ask, (facts = new AskFacts(ask)))
  return facts
}

/** Facts by hand, for other questions than `/v1/authorize`; a `Date` becomes a CEL timestamp. */
export function makeFacts(values: Readonly<Record<string, unknown>>): Facts {
  const facts = Object.create(null) as Record<string, CelInput>
  for (const [name, value] of Object.entries(values)) {
    facts[name] = value instanceof Date ? timestamp(value.getTime()) : wrap(value)
  }
  return facts
}

const EMPTY = celMap(new Map())

/** Wraps what a condition reads when it reads it first: most rules look at `context` only. */
class AskFacts implements Facts {
  readonly [variable: string]: CelInput
  readonly #ask: Ask
  readonly #made = new Map<string, CelInput>()

  constructor(ask: Ask) {
    this.#ask = ask
  }

  get action(): string {
    return this.#ask.request.action
  }

  get agent_id(): string {
    return this.#ask.request.agent_id
  }

  /** Attributes of the registry; an agent that is not registered has none. */
  get agent(): CelInput {
    return EMPTY
  }

  get context(): CelInput {
    return this.#once('context', () => wrap(this.#ask.request.context ?? {}))
  }

  get resource(): CelInput {
    return this.#once('resource', () => wrap(partsOf(this.#ask.request.resource)))
  }

  get subject(): CelInput {
    const { claims, request } = this.#ask
    return this.#once('subject', () =>
      wrap(claims.subject ?? { type: 'agent', id: request.agent_id }),
    )
  }

  get action_properties(): CelInput {
    return this.#once('action_properties', () => wrap(this.#ask.claims.actionProperties ?? {}))
  }

  get now(): CelInput {
    return this.#once('now', () => timestamp(this.#ask.now))
  }

  #once(name: string, make: () => CelInput): CelInput {
    let value = this.#made.get(name)
    if (value === undefined) this.#made.set(name, (value = make()))
    return value
  }
}

/** `type:id` in parts; without a colon there is only an id. */
function partsOf(resource: Ask['request']['resource']): Record<string, unknown> {
  if (resource === undefined || resource === '') return {}
  if (typeof resource === 'object') return { properties: {}, ...resource }
  const colon = resource.indexOf(':')
  const id = resource.slice(colon + 1)
  return { ...(colon > 0 && { type: resource.slice(0, colon) }), id, properties: {} }
}

const timestamp = (ms: number): CelInput => reflect(TimestampSchema, timestampFromMs(ms))

/**
 * A JSON value as CEL sees it. Plain objects never reach the library: it would take one with a member
 * `$typeName` for a protobuf message, and a rule would judge another value than the tool receives. A
 * member that is null is left out, so that null and absent are one.
 */
function wrap(value: unknown): CelInput {
  if (typeof value !== 'object' || value === null) return value as CelInput
  if (Array.isArray(value)) return celList(value.map(wrap))
  const members = new Map<string, CelInput>()
  for (const [name, member] of Object.entries(value)) {
    if (member !== null && member !== undefined) members.set(name, wrap(member))
  }
  return celMap(members)
}
