import { mcpTools as endpoints } from '@remit/contract'
import type {
  McpToolDefinition,
  McpToolMapping,
  McpTool,
  McpToolStatus,
  McpToolVerdict,
} from '@remit/contract'
import { existing, fail, invalid, pageOf } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement } from '@remit/core/http'
import type { ApiRequest, Route } from '@remit/core/http'
import { receipted } from '@remit/core/ledger/lanes'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { parse } from '@bufbuild/cel'
import { coazTexts, declaredMapping, MappingError } from '@remit/contract/coaz'
import { orgTable } from '@remit/core/db'
import type { McpToolRow } from '../tables/mcp-tools.ts'
import { checked, note } from './report.ts'
import type { Tables } from '../tables/schema.ts'
import { changesBetween } from './definition.ts'

/** Tools of an organization: a report adds rows, and must not fill a disk. */
const MAX_TOOLS = 10_000

export function mcpRoutes({ db, clock, ids, writer, computer }: Deps): Route[] {
  const decide = (
    id: string,
    caller: Caller,
    request: ApiRequest,
    kind: 'mcp.tool_admitted' | 'mcp.tool_reviewed' | 'mcp.tool_withdrawn',
    change: (row: McpToolRow, by: string, at: string) => McpToolRow,
  ) =>
    writer.work(caller.orgId, request, async ({ tx, orgId, recordedAt }, admitted) => {
      const known = existing(await findTool(tx, orgId, id), 'mcp_tool_not_found')
      const row = change(known, actorOf(admitted).id, recordedAt)
      await putTool(tx, row)
      const data = { tool: recordedTool(row), ...personOf(admitted) }
      return receipted([{ kind, actor: actorOf(admitted), data }], wireTool(row))
    })

  return implement(endpoints, {
    listMcpTools: ({ query: { limit, cursor, upstream, state } }, { orgId }) => {
      const where = { ...(upstream !== undefined && { upstream }), ...(state && { state }) }
      return pageOf(limit, {
        read: (count) => listTools(db, orgId, { limit: count, after: cursor, where }),
        cursor: ({ id }) => id,
        items: (rows) => rows.map(wireTool),
      })
    },

    reportMcpTools: async ({ body: { upstream, trust, tools } }, caller, request) => {
      refuseDuplicates(tools)
      const reported = await checked(tools, computer, caller.orgId)
      const names = tools.map(({ name }) => name)
      return writer.work(caller.orgId, request, async ({ tx, orgId, recordedAt }, admitted) => {
        const rows = await listTools(tx, orgId, { where: { upstream, name: names } })
        const known = new Map(rows.map((row) => [row.name, row]))
        const isNew = rows.length === 0 && (await countTools(tx, orgId, { upstream })) === 0
        const context = {
          orgId,
          upstream,
          admitsNew: trust === 'first-use' && isNew,
          now: recordedAt,
          nextId: () => ids.next('mct_', clock.now()),
        }
        const noted = reported.map((tool) => note(known.get(tool.definition.name), tool, context))
        const added = noted.length - rows.length
        if (added > 0 && (await countTools(tx, orgId)) + added > MAX_TOOLS)
          throw fail('too_many_mcp_tools', `An organization can have at most ${MAX_TOOLS} tools`)
        const entries: EntryDraft[] = []
        for (const { event, row } of noted) {
          if (event === null) continue
          await putTool(tx, row)
          const data = { tool: recordedTool(row), ...personOf(admitted) }
          entries.push({ kind: event, actor: actorOf(admitted), data })
        }
        return { entries, reply: () => ({ data: noted.map(({ row }) => wireStatus(row)) }) }
      })
    },

    admitMcpTool: ({ params: { id }, body: { digest, mapping } }, caller, request) =>
      decide(id, caller, request, 'mcp.tool_admitted', (row) => {
        refuseChanged(row, digest)
        const mapping_digest = pinnedMapping(row, mapping)
        return { ...row, state: 'admitted', previous_digest: null, previous: null, mapping_digest }
      }),

    reviewMcpTool: ({ params: { id }, body: { digest } }, caller, request) =>
      decide(id, caller, request, 'mcp.tool_reviewed', (row, by, at) => {
        refuseChanged(row, digest)
        return { ...row, reviewed_digest: digest, reviewed_by: by, reviewed_at: at }
      }),

    withdrawMcpTool: ({ params: { id } }, caller, request) =>
      decide(id, caller, request, 'mcp.tool_withdrawn', (row) => ({ ...row, state: 'withdrawn' })),
  })
}

/** The caller decides about a definition that it has read. */
function refuseChanged(row: McpToolRow, digest: string): void {
  if (row.digest !== digest)
    throw fail('mcp_tool_changed', `The definition has the digest ${row.digest} now`)
}

/** Two tools of one name: neither can be told from the other when it is called. */
function refuseDuplicates(tools: readonly McpToolDefinition[]): void {
  const names = new Set<string>()
  for (const [index, { name }] of tools.entries()) {
    if (names.has(name)) throw invalid(`tools.${index}.name`, 'must be unique in the report')
    names.add(name)
  }
}

/**
 * The digest whose declared mapping an admission pins; null for the mapping by default. An administrator who has
 * pinned a mapping before must choose again: rules for the mapped action would silently not match any more. Pure.
 */
function pinnedMapping(row: McpToolRow, mapping: McpToolMapping | undefined): string | null {
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

/** Ids sort by the first report, and so does the list. */
const {
  find: findTool,
  list: listTools,
  count: countTools,
  put: putTool,
} = orgTable<Tables, 'mcp_tool'>('mcp_tool', 'id', ['first_seen_at'])

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

const wireStatus = (row: McpToolRow): McpToolStatus => ({
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

function wireTool(row: McpToolRow): McpTool {
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
const recordedTool = (row: McpToolRow) => {
  const { definition: _, declared_mapping: __, verdict: ___, ...recorded } = wireTool(row)
  return recorded
}
