import { on, orgTable } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { McpToolRow } from '../tables/mcp-tools.ts'
import type { Tables } from '../tables/schema.ts'

/** Ids sort by the first report, and so does the list. */
export const {
  find: findTool,
  list: listTools,
  count: countTools,
  put: putTool,
} = orgTable<Tables, 'mcp_tool'>('mcp_tool', 'id', ['first_seen_at'])

export const findByNames = (
  db: AnyDatabase,
  orgId: string,
  upstream: string,
  names: readonly string[],
): Promise<McpToolRow[]> =>
  on<Tables>(db)
    .selectFrom('mcp_tool')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('upstream', '=', upstream)
    .where('name', 'in', names)
    .execute()
