import { orgTable } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'

/** Ids sort by the first report, and so does the list. */
export const {
  find: findTool,
  list: listTools,
  count: countTools,
  put: putTool,
} = orgTable<Tables, 'mcp_tool'>('mcp_tool', 'id', ['first_seen_at'])
