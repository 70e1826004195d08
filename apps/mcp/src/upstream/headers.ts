import type { IncomingMessage } from 'node:http'
import type { Message } from '../rpc/message.ts'
import { eraOf, nameOf, versionOf } from '../rpc/protocol.ts'

export const SESSION_ID = 'mcp-session-id'
export const PROTOCOL_VERSION = 'mcp-protocol-version'
export const METHOD = 'mcp-method'
export const NAME = 'mcp-name'
/** Headers that mirror arguments of a tool. */
export const PARAMETER = 'mcp-param-'

const ENCODED = /^=\?base64\?(.*)\?=$/s

/** A text as the value of a header (2026-07-28, "Value Encoding"). Pure. */
function encodeValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !ENCODED.test(text)
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

/** The text of a header; null where it is encoded wrongly. Pure. */
export function decodeValue(value: string): string | null {
  const [, encoded] = ENCODED.exec(value) ?? []
  if (encoded === undefined) return value
  const text = Buffer.from(encoded, 'base64')
  return text.toString('base64') === encoded ? text.toString('utf8') : null
}

/** The headers that mirror a message of 2026-07-28; those of earlier revisions have none. Pure. */
export function headersOf(message: Message): Record<string, string> {
  if (message.kind === 'response' || eraOf(message) === 'legacy') return {}
  const name = nameOf(message)
  return {
    [PROTOCOL_VERSION]: versionOf(message) ?? '',
    [METHOD]: message.method,
    ...(name !== undefined && { [NAME]: encodeValue(name) }),
  }
}

export const mediaTypeOf = ({ headers }: IncomingMessage): string =>
  headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
