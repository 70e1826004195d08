import type { McpTool, McpToolState } from '@remit/contract'
import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { pagesQuery } from '../../api/queries.ts'
import { everyPage } from '../../format/csv.ts'
import { t } from '../../texts.ts'
import { Page, TabLinks, TableOf } from '../../ui/layout.tsx'
import type { TableOfProps } from '../../ui/layout.tsx'
import { CurlButton } from '../../ui/states.tsx'
import { Badge, Id } from '../../ui/values.tsx'

const LIMIT = 100

/** One page of all tools. */
export const readTools = (cursor: string | undefined, signal?: AbortSignal) =>
  remit.listMcpTools({ query: { limit: LIMIT, cursor }, ...(signal && { signal }) })

/** The states of the tab of tools that an administrator should look at. */
const WAITING: readonly McpToolState[] = ['changed', 'seen']

const waitingQuery = queryOptions({
  queryKey: ['mcp-tools', 'waiting'],
  queryFn: async ({ signal }) => {
    const pages = await Promise.all(
      WAITING.map((state) => remit.listMcpTools({ query: { state, limit: LIMIT }, signal })),
    )
    return { data: pages.flatMap(({ data }) => data) }
  },
})

const TABS = [
  { label: t.mcpTools.tabs.waiting, value: 'waiting' },
  { label: t.mcpTools.tabs.all, value: 'all' },
]

/** Tools of MCP servers: those that wait for an administrator first. */
export function McpTools() {
  const { tab = 'waiting' } = useSearch({ from: '/mcp-tools' })
  const search = tab === 'all' ? '' : '?state=changed'
  return (
    <Page
      title={t.mcpTools.title}
      lead={t.mcpTools.lead}
      actions={<CurlButton request={`/v1/mcp/tools${search}`} />}
      tabs={<TabLinks label={t.mcpTools.title} tabs={TABS} current={tab} />}
    >
      {tab === 'all' ? <AllTools /> : <WaitingTools />}
    </Page>
  )
}

const WaitingTools = () => (
  <ToolTable
    query={useQuery(waitingQuery)}
    empty={{ title: t.mcpTools.noneWaiting, text: t.mcpTools.noneWaitingText }}
  />
)

const AllTools = () => (
  <ToolTable
    query={useInfiniteQuery(pagesQuery(['mcp-tools', 'all'], readTools))}
    all={() => everyPage(readTools)}
    empty={{ title: t.mcpTools.empty, text: t.mcpTools.emptyText, command: t.mcpTools.gateway }}
  />
)

const ToolTable = (list: Pick<TableOfProps<McpTool>, 'query' | 'all' | 'empty'>) => (
  <TableOf<McpTool>
    {...list}
    label={t.mcpTools.title}
    rowKey={({ id }) => id}
    csv="mcp-tools"
    columns={[
      {
        name: t.mcpTools.tool,
        value: ({ name }) => name,
        cell: ({ id, name }) => (
          <Link to="/mcp-tools/$id" params={{ id }}>
            <Id>{name}</Id>
          </Link>
        ),
      },
      { name: t.mcpTools.server, value: ({ upstream }) => upstream },
      {
        name: t.mcpTools.state,
        value: ({ state }) => t.mcpTools.states[state],
        cell: ({ state }) => <ToolState state={state} />,
      },
      {
        name: t.mcpTools.findings,
        end: true,
        value: ({ findings }) => findings.join(', '),
        cell: ({ findings, review }) =>
          findings.length === 0 ? '–' : t.mcpTools.count(findings.length, review !== null),
      },
      { name: t.mcpTools.changed, value: ({ changed_at }) => changed_at, as: 'time' },
    ]}
  />
)

const TONES = { seen: 'wait', admitted: 'allow', changed: 'deny', withdrawn: undefined } as const

export const ToolState = ({ state }: { state: McpToolState }) => (
  <Badge tone={TONES[state]}>{t.mcpTools.states[state]}</Badge>
)
