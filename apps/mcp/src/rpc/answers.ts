import type { Era } from './protocol.ts'
import type { Id, Members } from './members.ts'

/** JSON-RPC error codes of answers that the gateway gives itself. */
export const CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** A refusal by the transport. */
  refused: -32_000,
  /** An authorization denial by the AuthZEN binding for MCP. */
  denied: -32_001,
  headerMismatch: -32_020,
  urlElicitationRequired: -32_042,
} as const

export const errorAnswer = (id: Id | null, code: number, message: string, data?: Members): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } })

/** A result; results of the revision 2026-07-28 say that they are complete. */
export const resultAnswer = (id: Id, era: Era, result: Members): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    result:
      era === 'modern' && !('resultType' in result)
        ? { resultType: 'complete', ...result }
        : result,
  })

/** The result of a tool that failed, with a text that the model reads. */
export const toolError = (id: Id, era: Era, text: string): string =>
  resultAnswer(id, era, { content: [{ type: 'text', text }], isError: true })

export const notification = (method: string, params: Members): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params })
