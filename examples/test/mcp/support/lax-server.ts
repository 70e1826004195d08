/**
 * A server of 2025-11-25 on stdio, written by hand: it ignores the case of names, and runs requests without an
 * id. Each call writes a line to the file in `CALLS`. Its answer is `result` or `error` of the arguments, and
 * that of `tasks/get` and `tasks/result` is `later` of the last call. `LISTS` has several lists of tools: each
 * question gets the next one, after a notification that the list has changed; with `PAGED`, they are pages.
 */
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

type Members = Record<string, unknown>

const inputSchema = { type: 'object' }
const tools = ['pay', 'read'].map((name) => ({ name, inputSchema }))
const { LISTS, PAGED } = process.env
const lists = LISTS === undefined ? null : (JSON.parse(LISTS) as object[][])
let asked = 0
let later: unknown = {}

const folded = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(folded)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  return Object.fromEntries(members.map(([name, one]) => [fold(name), folded(one)]))
}
const fold = (name: string) => name.toUpperCase().toLowerCase()

function listed(cursor: unknown): Members {
  if (lists === null) return { tools }
  if (PAGED !== undefined) {
    const at = Number(cursor ?? 0)
    return { tools: lists[at], ...(at + 1 < lists.length && { nextCursor: String(at + 1) }) }
  }
  send({ method: 'notifications/tools/list_changed' })
  return { tools: lists[Math.min(asked++, lists.length - 1)] }
}

const send = (message: Members) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

function answerOf(method: unknown, params: Members, sent: Members): Members {
  switch (method) {
    case 'initialize': {
      const serverInfo = { name: 'lax', version: '1' }
      const instructions = process.env['INSTRUCTIONS'] ?? 'Read first.'
      const capabilities = { tools: {} }
      return {
        result: { protocolVersion: '2025-11-25', capabilities, serverInfo, instructions },
      }
    }
    case 'tools/list':
      return { result: listed(params['cursor']) }
    case 'tools/call': {
      appendFileSync(process.env['CALLS'] ?? '', `${String(params['name'])}\n`)
      const { arguments: args = {} } = (sent['params'] ?? {}) as { arguments?: Members }
      later = args['later']
      if (args['error'] !== undefined) return { error: args['error'] }
      return { result: args['result'] ?? { content: [{ type: 'text', text: 'done' }] } }
    }
    case 'tasks/get':
    case 'tasks/result':
      return { result: later }
    default:
      return { result: {} }
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const sent = JSON.parse(line) as Members
  const { id, method, params = {} } = folded(sent) as Members
  if (method === undefined) return
  send({ id, ...answerOf(method, params as Members, sent) })
})
