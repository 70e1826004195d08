import { isDeepStrictEqual } from 'node:util'
import { AddressError, normalAddress, normalPath, sentAddress } from '@remit/contract/address'
import { shortening } from '@remit/contract/fit'
import type { Json } from '@remit/contract/fit'
import { applyMapping } from '@remit/sdk'
import type { Mapped, ToolMapping } from '@remit/sdk'
import { isMembers, textOf, foldedTwice } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'
import { NotAMessage } from '../rpc/message.ts'
import type { Request } from '../rpc/message.ts'
import { mapsTarget } from '../mapping/coaz.ts'
import type { Coaz, CoazInputs } from '../mapping/coaz.ts'
import type { Governed } from './governed.ts'
import { withoutAnswers } from './request-state.ts'
import { CODES } from '../rpc/answers.ts'
import { BUDGETS, callMeta, passedMeta } from '../rpc/protocol.ts'
import { splice } from '../rpc/splice.ts'

/** A decided request: action and resource by the default mapping of the AuthZEN binding for MCP. */
export interface Question {
  readonly method: keyof typeof TARGETS
  readonly type: 'tool' | 'resource' | 'prompt'
  readonly name: string
  readonly args: Members
  /** Members of `_meta` that the server gets and that belong to the call. */
  readonly meta: Members
  readonly params: Members
  /** The client wants to know what budgets have left. */
  readonly wantsBudgets: boolean
  /** The request without what the server does not get. */
  readonly bytes: Buffer
}

const TARGETS = {
  'tools/call': { type: 'tool', member: 'name', action: 'tools/call' },
  'resources/read': { type: 'resource', member: 'uri', action: 'resources/read' },
  // A client that may not read a resource must not learn when it changes.
  'resources/subscribe': { type: 'resource', member: 'uri', action: 'resources/read' },
  'prompts/get': { type: 'prompt', member: 'name', action: 'prompts/get' },
} as const

const isDecided = (method: string): method is Question['method'] => Object.hasOwn(TARGETS, method)

/** The question about a request; null for one that is forwarded without a decision. */
export function questionOf(
  { id, method, params: given, bytes }: Request,
  dropped: readonly string[],
): Question | null {
  if (!isDecided(method)) return null
  const { type, member } = TARGETS[method]
  const { [member]: name, arguments: args = {}, _meta: meta = {}, ...params } = given
  const refused = (place: string, what: string) =>
    new NotAMessage(CODES.invalidParams, `params.${place}: must be ${what}.`, id)
  if (typeof name !== 'string' || name === '') throw refused(member, 'a text')
  if (!isMembers(args)) throw refused('arguments', 'an object')
  const twice = foldedTwice(given)
  if (twice !== null)
    throw refused(twice, 'a name that differs from its neighbors in more than case')
  if (!isMembers(meta)) throw refused('_meta', 'an object')
  const passed = passedMeta(meta, dropped)
  const isWhole = Object.keys(passed).length === Object.keys(meta).length
  return {
    method,
    type,
    name,
    args,
    meta: callMeta(passed),
    params,
    wantsBudgets: meta[BUDGETS] === true,
    bytes: isWhole ? bytes : spliced(bytes, ['params', '_meta'], passed),
  }
}

/** The bytes of a request with another value at a path. */
export function spliced(bytes: Buffer, path: readonly string[], value: unknown): Buffer {
  const made = splice(bytes, path, textOf(value))
  if (made === null) throw new Error(`The request has no ${path.join('.')}.`)
  return made
}

/** Identifies a call in each of its attempts: what the server gets, apart from the answers to its questions. */
export const callOf = ({ method, name, args, meta, params }: Question): string =>
  JSON.stringify([method, name, args, meta, withoutAnswers(params)])

/** The request as the server gets it: an address is the one that was decided. Throws `AddressError`. */
export function forwardedBytes({
  type,
  name,
  bytes,
}: Pick<Question, 'type' | 'name' | 'bytes'>): Buffer {
  if (type !== 'resource') return bytes
  const address = sentAddress(name)
  return name === address ? bytes : spliced(bytes, ['params', 'uri'], address)
}

/** Facts of a session that rules can read in `context`. */
export interface SessionFacts extends Members {
  readonly upstream: string
  readonly session_id: string
  readonly guard: { readonly flagged: boolean; readonly reasons: readonly string[] }
  /** The person of an inbound OAuth token. */
  readonly acting_for?: string
}

export interface GatewayMapping extends ToolMapping {
  /** A mapping of AuthZEN, in the place of action and resource. */
  readonly authzen?: Coaz
}

/** Input of a call, as the gateway passes it to the gate. */
export interface GatewayInput {
  readonly question: Question
  readonly facts: SessionFacts
  /** The mapping that the tool declares, where an administrator has pinned it. */
  readonly declared: Coaz | null
}

/** The authorization request for a question. A mapping replaces action and resource. */
export async function mapped(
  { mappings, agentId, digest }: Pick<Governed, 'mappings' | 'agentId' | 'digest'>,
  { question: { method, type, name, args, meta, params }, facts, declared }: GatewayInput,
): Promise<Mapped> {
  const own = type === 'tool' && Object.hasOwn(mappings, name) ? (mappings[name] ?? {}) : {}
  const id = normalId(type, name)
  const made = await applyMapping(own, id, args, digest)
  const subject = facts.acting_for ?? agentId
  const token = {
    ...(subject !== undefined && { sub: subject }),
    ...(agentId !== undefined && { client_id: agentId }),
  }
  const authzen = own.authzen ?? (mapsTarget(own) ? null : declared)
  const inputs = { params: { name, arguments: args }, token }
  const seen = { params: { name, arguments: made.context['args'] }, token }
  const hidden = made.context['omitted'] === undefined ? null : inputs
  const bound = (place: string, value: unknown) => digest(id, place, value as Json)
  const asked = authzen && (await evaluated(authzen, seen, hidden, bound))
  // Approvers read there what is hidden from them.
  const { omitted: _, ...context } = asked?.context ?? {}
  return {
    action: asked?.action ?? own.action ?? TARGETS[method].action,
    resource: normalResource(asked?.resource ?? made.resource ?? { type, id }),
    // A mapping cannot override the facts of the gateway.
    context: {
      ...context,
      ...made.context,
      // The server gets these too, so that rules can read them and an approval binds them.
      ...(Object.keys(meta).length > 0 && { meta }),
      ...(Object.keys(params).length > 0 && { params }),
      ...facts,
    },
  }
}

/**
 * The result of a mapping of AuthZEN on the arguments that Remit may see. A member of `context` that would be another
 * one with the arguments in `hidden` is a replaced place, so that rules cannot take it for absent.
 */
async function evaluated(
  authzen: Coaz,
  seen: CoazInputs,
  hidden: CoazInputs | null,
  bound: (place: string, value: unknown) => Promise<string>,
): Promise<ReturnType<Coaz>> {
  const made = authzen(seen)
  if (hidden === null) return made
  const whole = authzen(hidden)
  if (made.action !== whole.action || !isDeepStrictEqual(made.resource, whole.resource))
    throw new Error('The action or the resource depends on an argument that is omitted.')
  // An assignment to a member `__proto__` would lose it.
  const context = new Map<string, unknown>(Object.entries(made.context))
  for (const name of Object.keys({ ...made.context, ...whole.context })) {
    const value = whole.context[name] ?? null
    if (isDeepStrictEqual(made.context[name], whole.context[name])) continue
    const { stub, finish } = shortening(await bound(`/${name}`, value))
    await finish()
    context.set(name, stub)
  }
  return { ...made, context: Object.fromEntries(context) }
}

/** Types of resources whose ids are addresses or paths, by their normal form. */
const NORMAL_FORMS: ReadonlyMap<string, (id: string) => string> = new Map([
  ['resource', normalAddress],
  ['url', normalAddress],
  ['file', normalPath],
])

/** A resource as rules and approvals see it; `file:` in a template of a mapping is in normal form already. */
function normalResource(
  resource: NonNullable<Mapped['resource']>,
): NonNullable<Mapped['resource']> {
  if (typeof resource === 'string') {
    const [, type = '', id = ''] = /^(resource|url):(.+)$/s.exec(resource) ?? []
    return type === '' ? resource : normalResource({ type, id })
  }
  return { type: resource.type, id: normalId(resource.type, resource.id) }
}

function normalId(type: string, id: string): string {
  try {
    return NORMAL_FORMS.get(type)?.(id) ?? id
  } catch (error) {
    if (!(error instanceof AddressError)) throw error
    throw new Error(`The ${type} ${error.message}.`, { cause: error })
  }
}
