import { CLOSED_STATUSES } from './statuses.ts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Row, Stack, Table } from '../../ui/layout.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Literal, Time } from '../../ui/values.tsx'
import type { ApprovalsSearch } from './approvals.tsx'
import styles from './approvals.module.css'
import { RequestDetail, Status } from './detail.tsx'
import { historyQuery } from './queries.ts'

export function History({ search }: { search: ApprovalsSearch }) {
  const { status, agent_id, id } = search
  const query = useInfiniteQuery(
    historyQuery({ ...(status && { status }), ...(agent_id && { agent_id }) }),
  )
  const navigate = useNavigate()
  const set = (change: Partial<Record<'status' | 'agent_id', string>>) =>
    void navigate({
      to: '/approvals',
      search: { ...search, ...change, tab: 'history' } as ApprovalsSearch,
      replace: true,
    })
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
      </Row>
      <div className={styles['split']}>
        <Loaded query={query}>
          {({ pages }) => {
            const rows = pages.flatMap(({ data }) => data).filter((one) => one.status !== 'pending')
            if (rows.length === 0) return <Empty title={t.approvals.noHistory} />
            return (
              <Stack>
                <Table
                  label={t.approvals.history}
                  rows={rows}
                  rowKey={(row) => row.id}
                  columns={[
                    {
                      name: t.approvals.action,
                      cell: (row) => (
                        <Link to="/approvals" search={{ ...search, id: row.id, tab: 'history' }}>
                          <Literal>{row.action}</Literal>
                        </Link>
                      ),
                    },
                    { name: t.approvals.agent, cell: (row) => <Literal>{row.agent_id}</Literal> },
                    { name: t.approvals.status, cell: (row) => <Status status={row.status} /> },
                    {
                      name: t.approvals.requestedAt,
                      cell: (row) => <Time at={row.requested_at} />,
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
        {id !== undefined && <RequestDetail key={id} id={id} onVote={() => undefined} />}
      </div>
    </Stack>
  )
}
