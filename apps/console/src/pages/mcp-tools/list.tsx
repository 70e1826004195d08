import type { McpTool, McpToolState } from '@remit/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { everyPage } from '../../format/csv.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Page, Stack, Table, TabLinks } from '../../ui/layout.tsx'
import { Code, CurlButton, Empty, Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Id, Badge } from '../../ui/values.tsx'
import { allQuery, readTools, waitingQuery } from './queries.ts'

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
      actions={<CurlButton request={() => ({ method: 'GET', path: `/v1/mcp/tools${search}` })} />}
      tabs={<TabLinks label={t.mcpTools.title} tabs={TABS} current={tab} />}
    >
      {tab === 'all' ? <AllTools /> : <WaitingTools />}
    </Page>
  )
}

function WaitingTools() {
  const query = useQuery(waitingQuery)
  return (
    <Loaded query={query}>
      {(tools) =>
        tools.length === 0 ? (
          <Empty title={t.mcpTools.noneWaiting}>{t.mcpTools.noneWaitingText}</Empty>
        ) : (
          <ToolTable tools={tools} />
        )
      }
    </Loaded>
  )
}

function AllTools() {
  const query = useInfiniteQuery(allQuery)
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const tools = pages.flatMap(({ data }) => data)
        if (tools.length === 0)
          return (
            <div className={ui['empty']}>
              <h2>{t.mcpTools.empty}</h2>
              <p>{t.mcpTools.emptyText}</p>
              <Code label={t.common.command}>{t.mcpTools.gateway}</Code>
            </div>
          )
        return (
          <Stack>
            <ToolTable tools={tools} all={() => everyPage(readTools)} />
            {query.hasNextPage && (
              <Button onClick={() => void query.fetchNextPage()}>{t.common.more}</Button>
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}

interface ToolTableProps {
  readonly tools: readonly McpTool[]
  readonly all?: () => Promise<readonly McpTool[]>
}

const ToolTable = ({ tools, all }: ToolTableProps) => (
  <Table<McpTool>
    label={t.mcpTools.title}
    rows={tools}
    rowKey={({ id }) => id}
    csv="mcp-tools"
    {...(all && { all })}
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
