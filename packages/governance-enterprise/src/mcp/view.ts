import type { McpTool, McpToolDefinition, McpToolStatus } from '@remit/contract'
import { declaredMapping } from '@remit/contract/coaz'
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
  mapping: row.mapping_digest === row.digest ? 'declared' : 'default',
  findings: JSON.parse(row.findings) as string[],
  first_seen_at: row.first_seen_at,
  changed_at: row.changed_at,
})

export function wireTool(row: McpToolRow): McpTool {
  const definition = read(row.definition)
  return {
    ...wireStatus(row),
    definition,
    declared_mapping: shownMapping(definition),
    changes: row.previous === null ? [] : changesBetween(read(row.previous), definition),
  }
}

/** A declared mapping need not be an object. */
function shownMapping(definition: McpToolDefinition): McpTool['declared_mapping'] {
  const mapping = declaredMapping(definition)
  const isObject = typeof mapping === 'object' && mapping !== null && !Array.isArray(mapping)
  return isObject ? (mapping as Record<string, unknown>) : null
}

/** A tool as an entry records it: the definition itself is in its digest. */
export const recordedTool = (row: McpToolRow) => {
  const { definition: _, declared_mapping: __, ...recorded } = wireTool(row)
  return recorded
}
