import { amountText, resourceText, titleOf } from '@remit/contract/fit'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { everyPage } from '../../format/csv.ts'
import type { CsvColumn } from '../../format/csv.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Row, Stack, Table } from '../../ui/layout.tsx'
import { CsvButton, Empty, Loaded } from '../../ui/states.tsx'
import { Id, Literal, Time } from '../../ui/values.tsx'
import type { ApprovalsSearch } from './approvals.tsx'
import { RequestDetail, Status } from './detail.tsx'
import { historyQuery } from './queries.ts'
import type { Request } from './queries.ts'
import { CLOSED_STATUSES } from './statuses.ts'

const isClosed = ({ status }: Request): boolean => status !== 'pending'
const endOf = ({ decided_at, closed_at }: Request): string | null => decided_at ?? closed_at

/** People with their votes; several where the rule asks for several. */
const decidersOf = ({ votes }: Request): string =>
  votes.map(({ approver }) => approver.email ?? approver.id).join(', ')
const commentsOf = ({ votes }: Request): string =>
  votes.flatMap(({ comment }) => comment ?? []).join(' · ')

const CSV: readonly CsvColumn<Request>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'requested_at', cell: (row) => row.requested_at },
  { name: 'agent_id', cell: (row) => row.agent_id },
  { name: 'action', cell: ({ action }) => action },
  { name: 'request', cell: titleOf },
  { name: 'resource', cell: resourceText },
  { name: 'amount', cell: amountText },
  { name: 'status', cell: ({ status }) => status },
  { name: 'decided_at', cell: (row) => row.decided_at },
  { name: 'closed_at', cell: (row) => row.closed_at },
  { name: 'decided_by', cell: decidersOf },
  {
    name: 'votes',
    cell: ({ votes }) => votes.map(({ decision, at }) => `${decision} ${at}`).join(', '),
  },
  { name: 'comment', cell: commentsOf },
  { name: 'rules', cell: ({ requirements }) => requirements.map((one) => one.rule_id).join(', ') },
  { name: 'binding_hash', cell: (row) => row.binding_hash },
  { name: 'decision_id', cell: (row) => row.decision_id },
]

export function History({ search, id }: { search: ApprovalsSearch; id: string | undefined }) {
  const { status, agent_id } = search
  const filter = { ...(status && { status }), ...(agent_id && { agent_id }) }
  const query = useInfiniteQuery(historyQuery(filter))
  const navigate = useNavigate()
  const set = (change: Partial<Record<'status' | 'agent_id', string>>) =>
    void navigate({
      to: '/approvals',
      search: { ...search, ...change, tab: 'history' } as ApprovalsSearch,
      replace: true,
    })
  const closed = { ...search, tab: 'history' as const }
  if (id !== undefined)
    return (
      <Stack>
        <Link to="/approvals" search={closed} activeProps={{}}>
          ← {t.approvals.back}
        </Link>
        <RequestDetail key={id} id={id} onVote={() => undefined} />
      </Stack>
    )
  return (
    <Stack>
      <Row>
        <Select
          label={t.approvals.status}
          value={status ?? ''}
          options={[['', t.common.all], ...CLOSED_STATUSES]}
          onValue={(value) => set({ status: value })}
        />
        <Input
          label={t.approvals.agent}
          value={agent_id ?? ''}
          onValue={(value) => set({ agent_id: value })}
        />
        <CsvButton
          name="approvals"
          columns={CSV}
          rows={async () => {
            const all = await everyPage((cursor) =>
              remit.listApprovals({ query: { ...filter, limit: 1000, cursor } }),
            )
            return all.filter(isClosed)
          }}
        />
      </Row>
      <Loaded query={query}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data).filter(isClosed)
          if (rows.length === 0) return <Empty title={t.approvals.noHistory} />
          return (
            <Stack>
              <Table
                label={t.approvals.history}
                rows={rows}
                rowKey={(row) => row.id}
                columns={[
                  {
                    name: t.approvals.summary,
                    cell: (row) => (
                      <Link to="/approvals/$id" params={{ id: row.id }} search={closed}>
                        <Literal>{titleOf(row)}</Literal>
                      </Link>
                    ),
                  },
                  {
                    name: t.approvals.resource,
                    cell: (row) => <Literal>{resourceText(row) || '–'}</Literal>,
                  },
                  { name: t.approvals.amount, end: true, cell: (row) => amountText(row) ?? '–' },
                  { name: t.approvals.agent, cell: (row) => <Id>{row.agent_id}</Id> },
                  { name: t.approvals.status, cell: (row) => <Status status={row.status} /> },
                  {
                    name: t.approvals.decidedBy,
                    cell: (row) => <Literal>{decidersOf(row) || '–'}</Literal>,
                  },
                  {
                    name: t.approvals.decidedAt,
                    cell: (row) => <Time at={endOf(row) ?? row.expires_at} />,
                  },
                  {
                    name: t.approvals.comment,
                    cell: (row) => <Literal>{commentsOf(row) || '–'}</Literal>,
                  },
                ]}
              />
              {query.hasNextPage && (
                <Button onClick={() => void query.fetchNextPage()}>{t.common.more}</Button>
              )}
            </Stack>
          )
        }}
      </Loaded>
    </Stack>
  )
}
