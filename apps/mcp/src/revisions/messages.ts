import type { Id, Members } from '../rpc/members.ts'
import { isMembers, textOf } from '../rpc/members.ts'
import { metaOf, META_KEYS } from '../rpc/protocol.ts'
import type { Notification, Request, Response } from '../rpc/message.ts'

/** The revisions between which the gateway translates. */
export const LEGACY = '2025-11-25'
export const MODERN = '2026-07-28'

const bytesOf = (message: Members): Buffer => Buffer.from(textOf(message))

export const requestOf = (id: Id, method: string, params: Members): Request => ({
  kind: 'request',
  id,
  method,
  params,
  bytes: bytesOf({ jsonrpc: '2.0', id, method, params }),
})

export const notificationOf = (method: string, params: Members): Notification => ({
  kind: 'notification',
  method,
  params,
  bytes: bytesOf({ jsonrpc: '2.0', method, params }),
})

export const resultOf = (id: Id, result: Members): Response => ({
  kind: 'response',
  id,
  result,
  error: null,
  bytes: bytesOf({ jsonrpc: '2.0', id, result }),
})

export const failureOf = (id: Id, error: Members): Response => ({
  kind: 'response',
  id,
  result: null,
  error,
  bytes: bytesOf({ jsonrpc: '2.0', id, error }),
})

/** Methods by which a server asks something of its client. */
const ASKS = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list'])
export const isAsk = (method: string): boolean => ASKS.has(method)

/** Results of lists and of resources, which say since 2026-07-28 for how long they hold. */
const CACHEABLE = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
])

const RESOURCE_NOT_FOUND = -32_002
const INVALID_PARAMS = -32_602

/** A request of 2026-07-28 as one of 2025-11-25: the session knows what its envelope says. Pure. */
export function withoutEnvelope(given: Members): Members {
  const { requestState: _, inputResponses: __, ...params } = given
  const { _meta: meta, ...rest } = params
  if (!isMembers(meta)) return params
  const own = Object.fromEntries(
    Object.entries(meta).filter(([name]) => !Object.values<string>(META_KEYS).includes(name)),
  )
  return Object.keys(own).length > 0 ? { ...rest, _meta: own } : rest
}

/** A request of 2025-11-25 as one of 2026-07-28. Pure. */
export const withEnvelope = (params: Members, envelope: Members): Members => ({
  ...params,
  _meta: { ...metaOf(params), ...envelope },
})

/** A result of 2025-11-25 as one of 2026-07-28. Pure. */
export function modernResult(method: string, result: Members): Members {
  const cache = CACHEABLE.has(method) ? { ttlMs: 0, cacheScope: 'private' } : {}
  const { tools } = result
  if (method !== 'tools/list' || !Array.isArray(tools))
    return { resultType: 'complete', ...cache, ...result }
  // Tasks of 2025-11-25 do not exist any more.
  const own = (tools as unknown[]).map((tool) => {
    if (!isMembers(tool)) return tool
    const { execution: _, ...rest } = tool
    return rest
  })
  return { resultType: 'complete', ...cache, ...result, tools: own }
}

/** A result of 2026-07-28 as one of 2025-11-25, whose structured results are objects. Pure. */
export function legacyResult(method: string, result: Members): Members {
  const { resultType: _, ttlMs: __, cacheScope: ___, ...rest } = result
  const meta = metaOf(rest)
  const { [META_KEYS.serverInfo]: ____, ...others } = meta
  const { _meta, ...members } = rest
  const plain: Members = Object.keys(others).length > 0 ? { ...members, _meta: others } : members
  const { tools, structuredContent } = plain
  if (method === 'tools/list' && Array.isArray(tools))
    return { ...plain, tools: (tools as unknown[]).map(legacyTool) }
  if (structuredContent === undefined || isMembers(structuredContent)) return plain
  const { structuredContent: value, content, ...call } = plain
  const isSaid = Array.isArray(content) && content.length > 0
  return { ...call, content: isSaid ? content : [{ type: 'text', text: textOf(value) }] }
}

function legacyTool(tool: unknown): unknown {
  if (!isMembers(tool)) return tool
  const { outputSchema, ...rest } = tool
  return isMembers(outputSchema) && outputSchema['type'] !== 'object' ? rest : tool
}

/** An error of 2025-11-25 as one of 2026-07-28. Pure. */
export const modernError = (error: Members): Members =>
  error['code'] === RESOURCE_NOT_FOUND ? { ...error, code: INVALID_PARAMS } : error

/** An error of 2026-07-28 as one of 2025-11-25. Pure. */
export const legacyError = (method: string, error: Members): Members =>
  method === 'resources/read' &&
  error['code'] === INVALID_PARAMS &&
  isMembers(error['data']) &&
  'uri' in error['data']
    ? { ...error, code: RESOURCE_NOT_FOUND }
    : error

/** Capabilities that both revisions have: tasks are another protocol in each of them. Pure. */
export function sharedCapabilities(capabilities: unknown): Members {
  if (!isMembers(capabilities)) return {}
  const { tasks: _, extensions: __, ...shared } = capabilities
  return shared
}

/** Converts a question of a server to the other revision: only 2025-11-25 has `elicitationId`. */
export function modernAsk({ method, params }: Pick<Request, 'method' | 'params'>): Members {
  const { elicitationId: _, task: __, ...rest } = params
  return { method, params: rest }
}

export function legacyAsk(params: Members, elicitationId: string): Members {
  return params['mode'] === 'url' ? { elicitationId, ...params } : params
}
