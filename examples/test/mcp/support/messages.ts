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
