import type { McpTool, McpToolDefinition, McpToolStatus } from '@remit/contract'
import type { McpToolRow } from '../tables/mcp-tools.ts'
import { changesBetween } from './definition.ts'

const read = (text: string): McpToolDefinition => JSON.parse(text) as McpToolDefinition

export const wireStatus = (row: McpToolRow): McpToolStatus => ({
  id: row.id,
  upstream: row.upstream,
  name: row.name,
  digest: row.digest,
  state: row.state,
  previous_digest: row.previous_digest,
  findings: JSON.parse(row.findings) as string[],
  first_seen_at: row.first_seen_at,
  changed_at: row.changed_at,
})

export const wireTool = (row: McpToolRow): McpTool => ({
  ...wireStatus(row),
  definition: read(row.definition),
  changes: row.previous === null ? [] : changesBetween(read(row.previous), read(row.definition)),
})

/** A tool as an entry records it: the definition itself is in its digest. */
export const recordedTool = (row: McpToolRow) => {
  const { definition: _, changes, ...status } = wireTool(row)
  return { ...status, changes }
}
