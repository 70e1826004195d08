import { numberFault, parseStrictJson, StrictJsonError } from '@remit/contract/json'
import { CODES, errorAnswer } from './answers.ts'
import {
  isId,
  isMembers,
  parseWithDigits,
  misspelledMember,
  misspelledParameter,
} from './members.ts'
import type { Id, Members } from './members.ts'

/** A JSON-RPC request, with the bytes that it was read from. */
export interface Request {
  readonly kind: 'request'
  readonly id: Id
  readonly method: string
  readonly params: Members
  readonly bytes: Buffer
}

export interface Notification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: Members
  readonly bytes: Buffer
}

export interface Response {
  readonly kind: 'response'
  readonly id: Id
  readonly result: Members | null
  readonly error: Members | null
  readonly bytes: Buffer
}

export type Message = Request | Notification | Response

/** A text that is no message. `answer` is the response for its sender. */
export class NotAMessage extends Error {
  readonly answer: string
  constructor(code: number, reason: string, id: Id | null = null) {
    super(reason)
    this.name = 'NotAMessage'
    this.answer = errorAnswer(id, code, reason)
  }
}

/**
 * Reads a message of a client so that every other reader sees the same: no duplicate names, none in another
 * case, no inexact numbers, no batches, no request without an id. Throws `NotAMessage`.
 */
export function readMessage(bytes: Buffer): Message {
  let value: unknown
  try {
    value = parseStrictJson(bytes, { maxDepth: 128 })
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    throw unreadable(bytes, error)
  }
  const message = messageOf(value, bytes)
  const refusal = ambiguity(value as Members, message)
  if (refusal === null) return message
  throw new NotAMessage(
    CODES.invalidRequest,
    refusal,
    message.kind === 'request' ? message.id : null,
  )
}

/** An error that names the member and has the id of its request, where readers agree about that. */
function unreadable(bytes: Buffer, { code, reason }: StrictJsonError): NotAMessage {
  if (code !== 'inexact_number' && code !== 'duplicate_name')
    return new NotAMessage(CODES.parseError, reason)
  const text = bytes.toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    const { id, place } = faultIn(text)
    const said = place === '' ? reason : `${place}: ${reason}`
    // A response has the id of another's request.
    const isRequest = isMembers(value) && typeof value['method'] === 'string' && id === 1
    return isRequest && isId(value['id'])
      ? new NotAMessage(CODES.parseError, said, value['id'])
      : new NotAMessage(CODES.parseError, said)
  } catch {
    return new NotAMessage(CODES.parseError, reason)
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|-?\d[\d.eE+-]*/g

interface Level {
  /** The names so far; null in an array. */
  readonly names: Set<string> | null
  /** The name or the index that is read. */
  step: string | number
}

/** The place of the first fault of a JSON text, and how many ids its message has. */
function faultIn(text: string): { place: string; id: number } {
  const open: Level[] = []
  let last = ''
  let id = 0
  let place = ''
  const note = () => {
    place ||= open.map(({ step }) => step).join('.')
  }
  for (const [token] of text.matchAll(TOKEN)) {
    const level = open.at(-1)
    if (token === '{' || token === '[')
      open.push({ names: token === '{' ? new Set() : null, step: token === '{' ? '' : 0 })
    else if (token === '}' || token === ']') open.pop()
    else if (token === ',' && level && typeof level.step === 'number') level.step++
    else if (token === ':' && level?.names) {
      const name = JSON.parse(last) as string
      level.step = name
      if (open.length === 1 && name === 'id') id++
      if (level.names.has(name)) note()
      level.names.add(name)
    } else if (/^[-\d]/.test(token) && numberFault(token) !== null) note()
    last = token
  }
  return { place, id }
}

/** The reason for which servers may read a message of a client in different ways; null for none. */
function ambiguity(value: Members, message: Message): string | null {
  const member = misspelledMember(value)
  if (member !== null) return `${member}: must be spelled in the case of the specification.`
  if (message.kind === 'response') return null
  const parameter = misspelledParameter(message.params)
  if (parameter !== null)
    return `params.${parameter}: must be spelled in the case of the specification.`
  // A server that needs no id would run it, and nobody would have decided.
  return message.kind === 'request' || message.method.startsWith('notifications/')
    ? null
    : `id: is required, because ${message.method} is no notification.`
}

/**
 * Reads a message of an upstream. Its numbers may be inexact: a result with a 64-bit integer reaches the client
 * unchanged, as the bytes that came or, in another revision, with the same digits. Throws `NotAMessage`.
 */
export function readUpstream(bytes: Buffer): Message {
  let value: unknown
  try {
    value = parseWithDigits(bytes.toString('utf8'))
  } catch (error) {
    throw new NotAMessage(CODES.parseError, error instanceof Error ? error.message : String(error))
  }
  return messageOf(value, bytes)
}

function messageOf(value: unknown, bytes: Buffer): Message {
  if (Array.isArray(value))
    throw new NotAMessage(
      CODES.invalidRequest,
      'Arrays of messages are not supported; send one message.',
    )
  if (!isMembers(value))
    throw new NotAMessage(CODES.invalidRequest, 'A message must be a JSON object.')
  const { jsonrpc, id, method, params = {}, result, error } = value
  const idOrNull = isId(id) ? id : null
  const refuse = (reason: string) => new NotAMessage(CODES.invalidRequest, reason, idOrNull)
  if (jsonrpc !== '2.0') throw refuse('jsonrpc: must be "2.0".')
  if (id !== undefined && !isId(id)) throw refuse('id: must be a string or an integer.')
  if (method === undefined) {
    const isResult = isMembers(result)
    if (id === undefined || isResult === isMembers(error))
      throw refuse('A message must have a method, or an id with either a result or an error.')
    return isResult
      ? { kind: 'response', id, result, error: null, bytes }
      : { kind: 'response', id, result: null, error: error as Members, bytes }
  }
  if (typeof method !== 'string') throw refuse('method: must be a string.')
  if (result !== undefined || error !== undefined)
    throw refuse('A message with a method must not have a result or an error.')
  if (!isMembers(params)) throw refuse('params: must be an object.')
  return id === undefined
    ? { kind: 'notification', method, params, bytes }
    : { kind: 'request', id, method, params, bytes }
}

/** The response of a server. */
export function responseIn(bytes: Buffer): Response {
  const message = readUpstream(bytes)
  if (message.kind !== 'response') throw new Error('The server sent no response.')
  return message
}
