import type { ApprovalStatus } from '@remit/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useEvents } from '../../api/events.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Page, TabLinks } from '../../ui/layout.tsx'
import { CurlButton, Empty, Loaded } from '../../ui/states.tsx'
import { History } from './history.tsx'
import { PendingList } from './pending-list.tsx'
import { pendingQuery } from './queries.ts'

export interface ApprovalsSearch {
  readonly tab?: 'history'
  readonly id?: string
  readonly status?: ApprovalStatus
  readonly agent_id?: string
}

const RULE = {
  method: 'POST',
  path: '/v1/approval-rules/large-refunds',
  body: {
    description: 'Refunds above 500 USD need a second pair of eyes',
    actions: ['payments.refund'],
    condition: 'amount_usd > 500.0',
  },
}

export function Approvals() {
  const search: ApprovalsSearch = useSearch({ from: '/approvals' })
  const client = useQueryClient()
  useEvents(({ kind }) => {
    if (kind.startsWith('approval.')) void client.invalidateQueries({ queryKey: ['approvals'] })
  })
  const tab = search.tab ?? 'pending'
  return (
    <Page
      title={t.approvals.title}
      actions={
        <CurlButton
          request={() => ({
            method: 'GET',
            path: `/v1/approvals${tab === 'pending' ? '?status=pending' : ''}`,
          })}
        />
      }
      tabs={
        <TabLinks
          label={t.approvals.title}
          current={tab}
          tabs={[
            { label: t.approvals.pending, value: 'pending' },
            { label: t.approvals.history, value: 'history' },
          ]}
        />
      }
    >
      {tab === 'pending' ? <Pending open={search.id} /> : <History search={search} />}
    </Page>
  )
}

function Pending({ open }: { open: string | undefined }) {
  const query = useQuery(pendingQuery)
  const can = useCan()
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length > 0 || open !== undefined ? (
          <PendingList requests={data} open={open ?? data[0]?.id} />
        ) : (
          <Empty
            title={t.approvals.empty}
            {...(can('POST /v1/approval-rules/{id}') && { request: RULE })}
          >
            {t.approvals.emptyText}
          </Empty>
        )
      }
    </Loaded>
  )
}
