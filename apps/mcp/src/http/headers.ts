import type { IncomingHttpHeaders } from 'node:http'
import { CODES } from '../rpc/answers.ts'
import type { Message, Request } from '../rpc/message.ts'
import { eraOf, nameOf, versionOf } from '../rpc/protocol.ts'
import { decodeValue, METHOD, NAME, PARAMETER, PROTOCOL_VERSION } from '../upstream/headers.ts'
import { Fault } from './respond.ts'

/** The first revision whose requests are mirrored in headers. */
const MODERN = '2026-07-28'

export const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value.trim() : undefined
}

/** The media types of responses that a client takes. */
export interface Accepted {
  readonly json: boolean
  readonly stream: boolean
}

/** Both where the client names no type. Throws `Fault` for none of them. Pure. */
export function acceptedIn({ accept = '' }: IncomingHttpHeaders): Accepted {
  const ranges = accept.toLowerCase().split(',').map(weighted)
  // A list may have empty items.
  const weights = new Map(ranges.filter(([type]) => type !== ''))
  const takes = (family: string, subtype: string) => {
    const types = [`${family}/${subtype}`, `${family}/*`, '*/*']
    const named = types.find((type) => weights.has(type))
    return named === undefined ? weights.size === 0 : weights.get(named) !== 0
  }
  const accepted = { json: takes('application', 'json'), stream: takes('text', 'event-stream') }
  if (accepted.json || accepted.stream) return accepted
  throw new Fault(406, 'Accept: must have application/json or text/event-stream.')
}

/** A media range and its weight; a weight of 0 refuses the type. */
function weighted(range: string): [type: string, weight: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return [type, Number(weight?.slice('q='.length) ?? 1)]
}

/**
 * Refuses a message whose headers differ from its body: a proxy that routes by the headers would have
 * judged another request. Throws `Fault`. Pure.
 */
export function checkHeaders(headers: IncomingHttpHeaders, message: Message): void {
  if (message.kind === 'response') return
  const id = message.kind === 'request' ? message.id : null
  const mismatch = (header: string, problem: string) =>
    new Fault(400, `Header mismatch: ${header} ${problem}.`, { code: CODES.headerMismatch, id })
  const version = headerOf(headers, PROTOCOL_VERSION)
  const isModern = eraOf(message) === 'modern'
  if (!isModern) {
    if (message.kind === 'request' && version !== undefined && version >= MODERN)
      throw mismatch(
        'MCP-Protocol-Version',
        `is ${version}, and the body names no version in _meta`,
      )
    return
  }
  if (versionOf(message) === undefined)
    throw new Fault(400, 'params._meta: the protocol version must be a text.', {
      code: CODES.invalidParams,
      id,
    })
  const expected: [string, string, string | undefined][] = [
    ['MCP-Protocol-Version', PROTOCOL_VERSION, versionOf(message)],
    ['Mcp-Method', METHOD, message.method],
    ['Mcp-Name', NAME, nameOf(message)],
  ]
  for (const [header, key, value] of expected) {
    const given = headerOf(headers, key)
    // Headers of notifications are not defined, but those that are there must be true.
    if (given === undefined && (value === undefined || message.kind === 'notification')) continue
    if (given === undefined)
      throw mismatch(header, `is missing, and the body says ${String(value)}`)
    const decoded = key === NAME ? decodeValue(given) : given
    if (decoded === null) throw mismatch(header, 'is not encoded correctly')
    if (decoded !== value)
      throw mismatch(header, `is ${decoded}, and the body says ${value ?? 'nothing'}`)
  }
  if (message.kind === 'request') checkMirrored(headers, message)
}

/**
 * Refuses headers of arguments that are none of the decided arguments: a server may read them alone. It compares
 * each with its own argument. Throws `Fault`. Pure.
 */
function checkMirrored(headers: IncomingHttpHeaders, { id, params }: Request): void {
  for (const [name, value] of Object.entries(mirroredIn(headers))) {
    const text = decodeValue(value)
    if (text !== null && hasScalar(params['arguments'], text)) continue
    const message = `Header mismatch: ${name} is none of the arguments.`
    throw new Fault(400, message, { code: CODES.headerMismatch, id })
  }
}

function hasScalar(value: unknown, text: string): boolean {
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some((one) => hasScalar(one, text))
  return ['string', 'number', 'boolean'].includes(typeof value) && String(value) === text
}

/** The headers of arguments, which the server compares with the body. Pure. */
export function mirroredIn(headers: IncomingHttpHeaders): Record<string, string> {
  const mirrored: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith(PARAMETER) && typeof value === 'string') mirrored[name] = value
  return mirrored
}
