import { mcpTools as endpoints } from '@remit/contract'
import type { McpToolDefinition } from '@remit/contract'
import { fail, invalid, pageOf } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement } from '@remit/core/http'
import type { RequestInfo, Route } from '@remit/core/http'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import type { McpToolRow } from '../tables/mcp-tools.ts'
import { checked } from './checked.ts'
import { pinnedMapping } from './pinned-mapping.ts'
import { note } from './report.ts'
import { countTools, findTool, listTools, putTool } from './store.ts'
import { recordedTool, wireStatus, wireTool } from './view.ts'

/** Tools of an organization: a report adds rows, and must not fill a disk. */
const MAX_TOOLS = 10_000

export function mcpRoutes({ db, clock, ids, writer, computer }: Deps): Route[] {
  const decide = (
    id: string,
    caller: Caller,
    request: RequestInfo,
    kind: 'mcp.tool_admitted' | 'mcp.tool_reviewed' | 'mcp.tool_withdrawn',
    change: (row: McpToolRow, by: string, at: string) => McpToolRow,
  ) =>
    writer.work(
      caller.orgId,
      { ...request, caller },
      async ({ tx, orgId, recordedAt }, admitted) => {
        const known = await findTool(tx, orgId, id)
        if (!known) throw fail('mcp_tool_not_found')
        const row = change(known, actorOf(admitted).id, recordedAt)
        await putTool(tx, row)
        const data = { tool: recordedTool(row), ...personOf(admitted) }
        return {
          entries: [{ kind, actor: actorOf(admitted), data }],
          reply: ([recorded]) => ({
            ...wireTool(row),
            ...(recorded && { ledger: recorded.receipt }),
          }),
        }
      },
    )

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
      return writer.work(
        caller.orgId,
        { ...request, caller },
        async ({ tx, orgId, recordedAt }, admitted) => {
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
        },
      )
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
