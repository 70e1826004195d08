import type { ApprovalStatus } from '@remit/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Navigate, useParams, useSearch } from '@tanstack/react-router'
import { Bell, BellRing } from 'lucide-react'
import { useEvents } from '../../api/events.ts'
import { setNotifications, useNotifications } from '../../api/notifications.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Page, TabLinks } from '../../ui/layout.tsx'
import { CurlButton, Empty, Loaded } from '../../ui/states.tsx'
import { History } from './history.tsx'
import { PendingList } from './pending-list.tsx'
import { pendingQuery } from './queries.ts'

export interface ApprovalsSearch {
  readonly tab?: 'history'
  /** As in addresses of earlier versions. */
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
  const search: ApprovalsSearch = useSearch({ strict: false })
  const { id } = useParams({ strict: false })
  const client = useQueryClient()
  useEvents(({ kind }) => {
    if (kind.startsWith('approval.')) void client.invalidateQueries({ queryKey: ['approvals'] })
  })
  const tab = search.tab ?? 'pending'
  const { id: old, ...others } = search
  if (old !== undefined)
    return <Navigate to="/approvals/$id" params={{ id: old }} search={others} replace />
  return (
    <Page
      title={t.approvals.title}
      actions={
        <>
          <NotifyButton />
          <CurlButton
            request={() => ({
              method: 'GET',
              path: `/v1/approvals${tab === 'pending' ? '?status=pending' : ''}`,
            })}
          />
        </>
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
      {tab === 'pending' ? <Pending open={id} /> : <History search={search} id={id} />}
    </Page>
  )
}

/** Turns notifications of this browser on and off. */
function NotifyButton() {
  const isOn = useNotifications()
  const can = useCan()
  if (isOn === null || !can('POST /v1/approvals/{requestID}/decide')) return null
  const Icon = isOn ? BellRing : Bell
  return (
    <Button tone="quiet" onClick={() => void setNotifications(!isOn)}>
      <Icon aria-hidden />
      {isOn ? t.approvals.notified : t.approvals.notify}
    </Button>
  )
}

function Pending({ open }: { open: string | undefined }) {
  const query = useQuery(pendingQuery)
  const can = useCan()
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length > 0 || open !== undefined ? (
          <PendingList requests={data} open={open ?? data[0]?.id} isChosen={open !== undefined} />
        ) : (
          <Empty
            title={t.approvals.empty}
            {...(can('POST /v1/approval-rules/{id}') && { request: RULE })}
          >
            {t.approvals.emptyText}
            {can('POST /v1/approval-rules/{id}') && ` ${t.approvals.emptyRule}`}
          </Empty>
        )
      }
    </Loaded>
  )
}
