import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type McpTables = { mcp_tool: McpToolRow }

/** A tool of an MCP server, with the definition that was seen last. */
export type McpToolRow = {
  org_id: string
  id: string
  upstream: string
  name: string
  /** Of `definition`. */
  digest: string
  /** JSON. */
  definition: string
  state: 'seen' | 'admitted' | 'changed' | 'withdrawn'
  /** The definition that was admitted before a change, and its digest. */
  previous_digest: string | null
  previous: string | null
  /** The digest of the definition whose declared mapping is pinned. */
  mapping_digest: string | null
  /** JSON: the verdict of the guard; of an earlier version, the list of its reasons alone. */
  findings: string
  /** The definition whose findings an administrator has looked at, by whom and when. */
  reviewed_digest: string | null
  reviewed_by: string | null
  reviewed_at: string | null
  first_seen_at: string
  changed_at: string
}

export const mcpToolMappingMigration: Migration = {
  async up(db) {
    await sql`alter table mcp_tool add column mapping_digest ${column(db).text}`.execute(db)
  },
}

export const mcpToolReviewMigration: Migration = {
  async up(db) {
    for (const name of ['reviewed_digest', 'reviewed_by', 'reviewed_at'])
      await sql`alter table mcp_tool add column ${sql.ref(name)} ${column(db).text}`.execute(db)
  },
}

export const mcpToolMigration: Migration = {
  async up(db) {
    const { text } = column(db)
    await sql`create table mcp_tool (
      org_id ${text} not null, id ${text} not null, upstream ${text} not null, name ${text} not null,
      digest ${text} not null, definition ${text} not null, state ${text} not null,
      previous_digest ${text}, previous ${text}, findings ${text} not null,
      first_seen_at ${text} not null, changed_at ${text} not null, primary key (org_id, id))`.execute(
      db,
    )
    await sql`create unique index mcp_tool_by_name on mcp_tool (org_id, upstream, name)`.execute(db)
  },
}
