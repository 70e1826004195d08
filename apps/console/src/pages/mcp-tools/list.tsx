import type { McpTool } from '@remit/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Page, Stack, Table, TabLinks } from '../../ui/layout.tsx'
import { Code, CurlButton, Empty, Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Id, Literal, Time } from '../../ui/values.tsx'
import { allQuery, waitingQuery } from './queries.ts'
import { ToolState } from './state.tsx'

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
            <ToolTable tools={tools} />
            {query.hasNextPage && (
              <Button onClick={() => void query.fetchNextPage()}>{t.common.more}</Button>
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}

const ToolTable = ({ tools }: { tools: readonly McpTool[] }) => (
  <Table<McpTool>
    label={t.mcpTools.title}
    rows={tools}
    rowKey={({ id }) => id}
    columns={[
      {
        name: t.mcpTools.tool,
        cell: ({ id, name }) => (
          <Link to="/mcp-tools/$id" params={{ id }}>
            <Id>{name}</Id>
          </Link>
        ),
      },
      { name: t.mcpTools.server, cell: ({ upstream }) => <Literal>{upstream}</Literal> },
      { name: t.mcpTools.state, cell: ({ state }) => <ToolState state={state} /> },
      {
        name: t.mcpTools.findings,
        end: true,
        cell: ({ findings }) => (findings.length === 0 ? '–' : findings.length),
      },
      { name: t.mcpTools.changed, cell: ({ changed_at }) => <Time at={changed_at} /> },
    ]}
  />
)
