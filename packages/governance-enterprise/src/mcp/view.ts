import type { McpTool, McpToolDefinition, McpToolStatus, McpToolVerdict } from '@remit/contract'
import { declaredMapping } from '@remit/contract/coaz'
import type { McpToolRow } from '../tables/mcp-tools.ts'
import { changesBetween } from './definition.ts'

const read = (text: string): McpToolDefinition => JSON.parse(text) as McpToolDefinition

interface Stored extends McpToolVerdict {
  readonly reasons: string[]
}

/** The stored verdict; rows of earlier versions have a list of reasons. */
function verdictOf({ findings }: McpToolRow): Stored | { reasons: string[] } {
  const stored = JSON.parse(findings) as string[] | Stored
  return Array.isArray(stored) ? { reasons: stored } : stored
}

function shownVerdict(row: McpToolRow): McpToolVerdict | null {
  const stored = verdictOf(row)
  return 'score' in stored ? { score: stored.score, marked: stored.marked } : null
}

export const wireStatus = (row: McpToolRow): McpToolStatus => ({
  id: row.id,
  upstream: row.upstream,
  name: row.name,
  digest: row.digest,
  state: row.state,
  previous_digest: row.previous_digest,
  mapping: row.mapping_digest === row.digest ? 'declared' : 'default',
  findings: verdictOf(row).reasons,
  first_seen_at: row.first_seen_at,
  changed_at: row.changed_at,
})

export function wireTool(row: McpToolRow): McpTool {
  const definition = read(row.definition)
  return {
    ...wireStatus(row),
    definition,
    declared_mapping: shownMapping(definition),
    verdict: shownVerdict(row),
    review:
      row.reviewed_digest === row.digest && row.reviewed_by !== null && row.reviewed_at !== null
        ? { by: row.reviewed_by, at: row.reviewed_at }
        : null,
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
  const { definition: _, declared_mapping: __, verdict: ___, ...recorded } = wireTool(row)
  return recorded
}
