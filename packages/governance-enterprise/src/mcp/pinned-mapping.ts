import { parse } from '@bufbuild/cel'
import type { McpToolDefinition, McpToolMapping } from '@remit/contract'
import { coazTexts, declaredMapping, MappingError } from '@remit/contract/coaz'
import { invalid } from '@remit/core/base'
import type { McpToolRow } from '../tables/mcp-tools.ts'

/**
 * The digest whose declared mapping an admission pins; null for the mapping by default. An administrator who has
 * pinned a mapping before must choose again: rules for the mapped action would silently not match any more. Pure.
 */
export function pinnedMapping(row: McpToolRow, mapping: McpToolMapping | undefined): string | null {
  if (mapping === undefined && row.mapping_digest !== null)
    throw invalid('mapping', 'is required: the tool was admitted with its declared mapping before')
  if (mapping !== 'declared') return null
  const fault = faultOf(JSON.parse(row.definition) as McpToolDefinition)
  if (fault !== null) throw invalid('mapping', fault)
  return row.digest
}

function faultOf(definition: McpToolDefinition): string | null {
  const mapping = declaredMapping(definition)
  if (mapping === undefined) return 'the definition declares no mapping'
  try {
    for (const text of coazTexts(mapping))
      if (text.kind === 'expression') refuseUnreadable(text.source, text.place)
    return null
  } catch (error) {
    if (error instanceof MappingError) return `the declared mapping: ${error.message}`
    throw error
  }
}

function refuseUnreadable(source: string, place: string): void {
  try {
    if (parse(source).expr) return
  } catch (error) {
    const why = error instanceof Error ? error.message : 'cannot be parsed'
    throw new MappingError(`${place}: $${source} is no expression: ${why}`)
  }
  throw new MappingError(`${place}: $${source} is empty`)
}
