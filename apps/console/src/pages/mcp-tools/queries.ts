import type { McpTool, McpToolState } from '@remit/contract'
import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { pagesQuery } from '../../api/lists.ts'

const LIMIT = 100

/** One page of all tools. */
export const readTools = (cursor: string | undefined, signal?: AbortSignal) =>
  remit.listMcpTools({ query: { limit: LIMIT, cursor }, ...(signal && { signal }) })

/** The states of the tab of tools that an administrator should look at. */
const WAITING: readonly McpToolState[] = ['changed', 'seen']

export const waitingQuery = queryOptions({
  queryKey: ['mcp-tools', 'waiting'],
  queryFn: async ({ signal }) => {
    const pages = await Promise.all(
      WAITING.map((state) => remit.listMcpTools({ query: { state, limit: LIMIT }, signal })),
    )
    return { data: pages.flatMap(({ data }) => data) }
  },
})

export const allQuery = pagesQuery(['mcp-tools', 'all'], readTools)

/** One tool, which the API gives as part of the list. */
export const toolQuery = (id: string) =>
  queryOptions({
    queryKey: ['mcp-tools', 'tool', id],
    queryFn: async ({ signal }): Promise<McpTool | null> => {
      for (let cursor: string | undefined; ;) {
        const page = await readTools(cursor, signal)
        const found = page.data.find((tool) => tool.id === id)
        if (found) return found
        if (page.next_cursor === null) return null
        cursor = page.next_cursor
      }
    },
  })
