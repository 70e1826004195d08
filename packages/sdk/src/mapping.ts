import { AddressError, normalPath } from '@remit/contract/address'
import { at, fitted, isObject, pointerOf, stepsOf, isName } from '@remit/contract/fit'
import type { Json, JsonObject, OmittedDigest } from '@remit/contract/fit'
import { Unmappable } from './errors.ts'
import { toPlain } from './snapshot.ts'

/** The authorization request for a call. */
export interface Mapped {
  readonly action: string
  /** `type:id`, or the parts. */
  readonly resource?: string | { readonly type: string; readonly id: string }
  /** Facts for rules and approvers. Nothing that differs between two attempts of the same call. */
  readonly context?: object
}

/** The mapping of the calls of one tool. Pointers are JSON Pointers (RFC 6901) into the input. */
export interface ToolMapping {
  /** The tool's name unless given. */
  readonly action?: string
  /** Pointer to the amount in USD, such as `/amount_usd`. */
  readonly amount?: string
  /** Such as `invoice:{/invoice_id}`, or `file:{/path}` for a path, which is in normal form. */
  readonly resource?: string
  /** Pointers to members that Remit must not see; `context.omitted` has a keyed digest of each. */
  readonly omit?: readonly string[]
}

/** A function, or a mapping for each tool by name. */
export type ToolMap =
  | ((tool: string, input: unknown) => Mapped | Promise<Mapped>)
  | Readonly<Record<string, ToolMapping>>

/** The body of `POST /v1/authorize`. */
export type AuthorizeRequest = JsonObject & {
  readonly action: string
  readonly context: JsonObject
  /** The places of the context that the rules cannot see, because it did not fit. */
  readonly replaced?: string[]
}

const MAX_USD = 1e9

export const isUsd = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= MAX_USD

/** Amounts have 6 decimals; sums of prices have more. */
export const roundedUsd = (usd: number): number => Math.round(usd * 1e6) / 1e6

/** Actions that the server answers before all rules. */
export const SELF_TEST_ACTIONS = 'remit.selftest.'

const MEMBERS = ['action', 'amount', 'omit', 'resource']

/** Refuses a table with a mistake: a member that is not omitted would be seen. Throws `TypeError`. */
export function checkMap(map: ToolMap): void {
  if (typeof map === 'function') return
  for (const [tool, mapping] of Object.entries(map)) {
    const unknown = Object.keys(mapping).find((member) => !MEMBERS.includes(member))
    if (unknown !== undefined)
      throw new TypeError(`map.${tool}.${unknown} is unknown; known are ${MEMBERS.join(', ')}`)
    const { amount = '/', omit = [] } = mapping
    const fault = [amount, ...omit].find((pointer) => !POINTER.test(pointer))
    if (fault !== undefined)
      throw new TypeError(`map.${tool}: ${fault} is no JSON Pointer such as /invoice/id`)
  }
}

const POINTER = /^\/([^~]|~[01])*$/

const selfTests = new WeakSet<ToolMap>()

/** Maps the calls of a self-test to its reserved action, which no other mapping may use. */
export function selfTestMap(answer: string): ToolMap {
  const map: ToolMap = () => ({ action: SELF_TEST_ACTIONS + answer })
  selfTests.add(map)
  return map
}

/** The gate's settings for requests. */
interface Requester {
  readonly agentId?: string
  readonly map?: ToolMap
  readonly digest: OmittedDigest
}

/**
 * The request for a call. Throws `Unmappable`, or what the mapping throws. A tool cannot get past the
 * rules by the name of a reserved action.
 */
export async function requestFor(
  { agentId, map, digest }: Requester,
  tool: string,
  input: unknown,
): Promise<AuthorizeRequest> {
  const mapped =
    typeof map === 'function'
      ? await byFunction(map, tool, input)
      : await applyMapping(mappingOf(map ?? {}, tool), tool, input, digest)
  const action = nameOf(mapped.action, 'action')
  if (action.startsWith(SELF_TEST_ACTIONS) && !(map && selfTests.has(map)))
    throw new Unmappable('action', 'is reserved for self-tests')
  const { context, replaced } = await fitted(mapped.context)
  return {
    action,
    ...(agentId !== undefined && { agent_id: agentId }),
    context,
    ...(replaced.length > 0 && { replaced: [...replaced] }),
    ...(mapped.resource !== undefined && { resource: resourceOf(mapped.resource) }),
  }
}

function resourceOf(resource: NonNullable<Mapped['resource']>): Json {
  if (resource === '') return ''
  if (typeof resource === 'string') return nameOf(resource, 'resource')
  const { id, type } = resource
  return { id: nameOf(id, 'resource.id'), type: nameOf(type, 'resource.type') }
}

export interface PlainMapped extends Mapped {
  readonly context: JsonObject
}

async function byFunction(
  map: Extract<ToolMap, (...args: never) => unknown>,
  tool: string,
  input: unknown,
): Promise<PlainMapped> {
  const mapped = await map(tool, input)
  const context = await toPlain(mapped.context ?? {})
  if (!isObject(context)) throw new Unmappable('context', 'is not an object')
  return { ...mapped, context }
}

const mappingOf = (table: Readonly<Record<string, ToolMapping>>, tool: string): ToolMapping =>
  Object.hasOwn(table, tool) ? (table[tool] ?? {}) : {}

/**
 * The request that a mapping makes of one call; throws `Unmappable`. `digest` binds the members that it omits.
 */
export async function applyMapping(
  { action, amount, resource, omit = [] }: ToolMapping,
  tool: string,
  input: unknown,
  digest: OmittedDigest,
): Promise<PlainMapped> {
  const args = await toPlain(input ?? {})
  const omitted: Record<string, Json> = {}
  for (const pointer of omit.toSorted()) {
    const member = at(args, pointer)
    if (member !== undefined) omitted[pointer] = await digest(tool, pointer, member)
  }
  return {
    action: action ?? tool,
    ...(resource !== undefined && { resource: filled(resource, args) }),
    context: {
      ...(amount !== undefined && { amount_usd: amountAt(args, amount) }),
      args: omit.reduce(without, args),
      ...(Object.keys(omitted).length > 0 && { omitted }),
      tool: nameOf(tool, 'tool'),
    },
  }
}

/** An amount as limits count it: without it, a limit would count nothing. */
function amountAt(args: Json, pointer: string): number {
  const amount = at(args, pointer)
  if (typeof amount === 'number') return isUsd(amount) ? roundedUsd(amount) : amount
  throw new Unmappable(pointer, 'is no number, and the amount needs it')
}

/** A template with values of the arguments; one that begins with `file:` is a path in normal form. */
function filled(template: string, args: Json): string {
  const [root] = FILE.exec(template) ?? []
  const text = template.replace(/\{(\/[^}]*)\}/g, (_, pointer: string, offset: number) => {
    const value = textAt(args, pointer)
    if (root !== undefined) checkPath(template.slice(root.length, offset), value, pointer)
    return value
  })
  if (root === undefined) return text
  const path = text.slice(root.length)
  // The values and the template make one path, as for the tool.
  return root + inNormalForm('resource', path, !/^(?:\/|[A-Za-z]:)/.test(path))
}

/** With the slashes of a template that is written as an address. */
const FILE = /^file:(?:\/*(?=\/))?/

function textAt(args: Json, pointer: string): string {
  const value = at(args, pointer)
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new Unmappable(pointer, 'is no text, number or boolean, and the resource needs it')
}

/** A value as a part of a path: it cannot leave what the template has before it. */
function checkPath(before: string, value: string, pointer: string): void {
  const isWhole = before === '' || (!before.endsWith('/') && value.startsWith('/'))
  inNormalForm(pointer, value, !isWhole)
}

function inNormalForm(place: string, path: string, isRelative: boolean): string {
  try {
    return normalPath(path, isRelative)
  } catch (error) {
    if (error instanceof AddressError) throw new Unmappable(place, error.message)
    throw error
  }
}

/** The value without the member that a JSON Pointer names; an item of an array becomes null. */
function without(value: Json, pointer: string): Json {
  const [step, ...rest] = stepsOf(pointer)
  if (step === undefined) return value
  const inner = (member: Json) => without(member, pointerOf(rest))
  if (Array.isArray(value))
    return (value as Json[]).map((item, index) => {
      if (String(index) !== step) return item
      return rest.length === 0 ? null : inner(item)
    })
  if (!isObject(value) || !Object.hasOwn(value, step)) return value
  const { [step]: member = null, ...others } = value
  return rest.length === 0 ? others : { ...others, [step]: inner(member) }
}

const MAX_LENGTH = 256

/**
 * A name as Remit takes it. Throws `Unmappable` for any other one: cleaned, the rules would judge a name that
 * does not run.
 */
export function nameOf(text: unknown, what: string): string {
  if (typeof text !== 'string') throw new Unmappable(what, 'must be a text')
  if (isName(text)) return text
  throw new Unmappable(what, `must ${problemOf(text)}`)
}

function problemOf(text: string): string {
  const chars = Array.from(text)
  if (chars.length === 0) return 'not be empty'
  if (chars.length > MAX_LENGTH) return `have at most ${MAX_LENGTH} characters`
  if (text.includes('*')) return 'not contain *'
  if (text.normalize('NFC') !== text) return 'be in the normalization form NFC of Unicode'
  const unseen = chars.find((char) => char !== ' ' && !isName(char))
  if (unseen === undefined) return 'not begin or end with a blank'
  const code = unseen.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  return `not contain the invisible character U+${code}`
}
