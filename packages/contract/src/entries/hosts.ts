import { z } from 'zod'
import { McpTool } from '../mcp-tools.ts'
import { by, EVENT } from './row.ts'
import type { EntryRows } from './row.ts'

const { definition: _, declared_mapping: __, verdict: ___, ledger: ____, ...tool } = McpTool.shape

const change = {
  ...EVENT,
  data: z.strictObject({ tool: z.strictObject(tool), ...by }),
  agent: 'never',
  carried: 'state',
} as const

export const hosts = {
  'mcp.tool_seen': { ...change, says: 'the MCP gateway reported a tool for the first time' },
  'mcp.tool_changed': {
    ...change,
    says: 'the definition of a tool changed; the tool cannot be called until it is admitted',
    event: { is: 'mcp.tool_changed', sends: ['tool'] },
  },
  'mcp.tool_admitted': {
    ...change,
    says: 'an administrator admitted the definition; `tool.mapping` is `declared` if that pinned the [mapping that it declares](mcp.md#declared-mappings), else `default`',
  },
  'mcp.tool_reviewed': {
    ...change,
    says: 'an administrator found the findings of the guard in a definition harmless',
  },
  'mcp.tool_withdrawn': { ...change, says: 'an administrator withdrew the tool' },
  'inventory.reported': {
    ...EVENT,
    says: '`remit discover` reported a host',
    data: z.strictObject({
      inventory: z.strictObject({
        host: z.string(),
        items: z.int(),
        governed: z.int(),
        ungoverned: z.array(z.object({ kind: z.string(), name: z.string() })),
        unread: z.int(),
      }),
      ...by,
    }),
    agent: 'never',
  },
} as const satisfies EntryRows
