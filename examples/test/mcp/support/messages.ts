import type { Client } from '@modelcontextprotocol/client'

/** The text of a result. */
export const textOf = (result: unknown): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')

/** The parameters of `tools/call`. */
export const call = (name: string, args: Record<string, unknown> = {}) => ({
  name,
  arguments: args,
})

/** `_meta` of a request of 2026-07-28. */
export const envelope = (capabilities: object = {}) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  },
})

/** The capabilities of a client that has tasks, or opens pages, in its revision. */
export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
export const PAGES = { elicitation: { url: {} } }

/** A client of 2026-07-28; without it, clients of these tests are of 2025-11-25. */
export const MODERN = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const

export const REVISIONS = [
  ['2025-11-25', {}],
  ['2026-07-28', MODERN],
] as const

/** Options of a call whose progress `progressSeenBy` collects: they ask for it. */
export const WITH_PROGRESS = { onprogress: () => undefined }

/**
 * The steps of each call of a client from now on, by its token. The client of the SDK drops steps that arrive in
 * one piece with the response, so that its transport is watched.
 */
export function progressSeenBy({ transport }: Client): Map<unknown, number[]> {
  const seen = new Map<unknown, number[]>()
  if (!transport) throw new Error('the client is not connected')
  const { onmessage } = transport
  const watch: typeof onmessage = (message, extra) => {
    if ('method' in message && message.method === 'notifications/progress') {
      const { progressToken: token, progress } = message.params as Record<string, unknown>
      seen.set(token, [...(seen.get(token) ?? []), Number(progress)])
    }
    onmessage?.(message, extra)
  }
  Object.assign(transport, { onmessage: watch })
  return seen
}
