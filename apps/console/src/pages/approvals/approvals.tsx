import type { ApprovalStatus } from '@remit/contract'
import { useQuery, useInfiniteQuery } from '@tanstack/react-query'
import { Navigate, useParams, useSearch, Link, useNavigate } from '@tanstack/react-router'
import { Bell, BellRing } from 'lucide-react'
import { amountText, resourceText, titleOf, failedText } from '@remit/contract/fit'
import { useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { useEvents } from '../../api/events.ts'
import { setNotifications, useNotifications } from '../../api/notifications.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button, classes } from '../../ui/button.tsx'
import { Page, TabLinks, Row, Stack, TableOf } from '../../ui/layout.tsx'
import { CurlButton, Empty, Loaded, CsvButton, Note } from '../../ui/states.tsx'
import { pendingQuery, historyQuery, isClosed, CLOSED_STATUSES } from './queries.ts'
import type { Request } from './queries.ts'
import { remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { everyPage } from '../../format/csv.ts'
import type { CsvColumn } from '../../format/csv.ts'
import { Input, Select } from '../../ui/field.tsx'
import { Id, Literal, Time, Ago, Badge } from '../../ui/values.tsx'
import { RequestDetail, Status } from './detail.tsx'
import { spellOut } from '../../format/literal.ts'
import { useShortcuts } from '../../ui/preferences.ts'
import ui from '../../ui/ui.module.css'
import styles from './approvals.module.css'
import { DecideDialog } from './decide-dialog.tsx'
import type { Vote } from './decide-dialog.tsx'
import { useCanVote } from './facts.tsx'

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
  useEvents(({ kind }) => {
    if (kind.startsWith('approval.')) void refresh('approvals')
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
          <CurlButton request={`/v1/approvals${tab === 'pending' ? '?status=pending' : ''}`} />
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

function History({ search, id }: { search: ApprovalsSearch; id: string | undefined }) {
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
      <TableOf<Request>
        query={query}
        empty={{ title: t.approvals.noHistory }}
        label={t.approvals.history}
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
    </Stack>
  )
}

interface PendingListProps {
  readonly requests: readonly Request[]
  readonly open: string | undefined
  /** The address names the request; else it is the first. */
  readonly isChosen: boolean
}

function PendingList({ requests, open, isChosen }: PendingListProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [vote, setVote] = useState<Vote | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const navigate = useNavigate()
  const isOn = useShortcuts()
  const canVote = useCanVote()
  const selected = requests.filter(({ id }) => chosen.has(id))

  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  const move = (by: number) => {
    const at = requests.findIndex(({ id }) => id === open)
    const next = requests[Math.min(requests.length - 1, Math.max(0, at + by))]
    if (!next) return
    void navigate({ to: '/approvals/$id', params: { id: next.id }, replace: true })
    list.current?.querySelector<HTMLElement>(`[data-id="${next.id}"] a`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOn || event.ctrlKey || event.metaKey || event.altKey) return
    const current = requests.find(({ id }) => id === open)
    if (event.key === 'j') move(1)
    else if (event.key === 'k') move(-1)
    else if ((event.key === 'a' || event.key === 'r') && current && canVote(current))
      setVote({ decision: event.key === 'a' ? 'approve' : 'reject', requests: [current] })
    else return
    event.preventDefault()
  }
  return (
    <div className={styles['split']} data-chosen={isChosen ? '' : undefined}>
      <Stack>
        <div className={styles['list']} hidden={requests.length === 0}>
          {selected.length > 0 && <Bulk selected={selected} onVote={setVote} />}
          <ul ref={list} aria-label={t.approvals.list} data-shortcuts onKeyDown={onKeyDown}>
            {requests.map((request) => (
              <Item
                key={request.id}
                request={request}
                isOpen={request.id === open}
                isChosen={chosen.has(request.id)}
                canVote={canVote(request)}
                onToggle={() => toggle(request.id)}
              />
            ))}
          </ul>
        </div>
        {requests.length === 0 && <p className={ui['muted']}>{t.approvals.empty}</p>}
        {isOn && requests.length > 0 && (
          <p className={classes(ui['hint'], styles['keys'])}>{t.approvals.keys}</p>
        )}
      </Stack>
      {open !== undefined && (
        <div className={styles['detail']}>
          <BackLink />
          <RequestDetail key={open} id={open} onVote={setVote} />
        </div>
      )}
      <DecideDialog
        vote={vote}
        onClose={(isDone) => {
          setVote(null)
          if (isDone) setChosen(new Set())
        }}
      />
    </div>
  )
}

interface ItemProps {
  readonly request: Request
  readonly isOpen: boolean
  readonly isChosen: boolean
  readonly canVote: boolean
  readonly onToggle: () => void
}

function Item({ request, isOpen, isChosen, canVote, onToggle }: ItemProps) {
  const { id, agent_id, action, expires_at, requirements } = request
  return (
    <li className={styles['item']} data-id={id} data-open={isOpen ? '' : undefined}>
      <input
        type="checkbox"
        aria-label={t.approvals.select(
          `${spellOut(action)} ${spellOut(resourceText(request))}`.trim(),
        )}
        checked={isChosen}
        disabled={!canVote}
        onChange={onToggle}
      />
      <Link
        to="/approvals/$id"
        params={{ id }}
        preload={false}
        aria-current={isOpen ? 'true' : undefined}
        activeProps={{}}
      >
        <Literal>{titleOf(request)}</Literal>
      </Link>
      <span className={styles['side']}>
        {t.approvals.ends} <Ago at={expires_at} />
      </span>
      <Literal as="small">{[agent_id, resourceText(request)].filter(Boolean).join(' · ')}</Literal>
      <span className={styles['side']}>{amountText(request)}</span>
      {failedText(requirements) !== null && (
        <span className={styles['failed']}>
          <Badge tone="wait">{t.approvals.notEvaluated}</Badge>
        </span>
      )}
    </li>
  )
}

/** On a phone, a request stands alone. */
const BackLink = () => (
  <Link to="/approvals" className={styles['back']} activeProps={{}}>
    ← {t.approvals.back}
  </Link>
)

/** Many can be rejected at once; approved together only under one rule. */
function Bulk({ selected, onVote }: { selected: Request[]; onVote: (vote: Vote) => void }) {
  const rules = new Set(
    selected.map(({ requirements }) =>
      requirements.map((one) => `${one.rule_id} ${one.condition_failed ?? false}`).join(' '),
    ),
  )
  return (
    <div className={styles['bulk']}>
      <span>{t.approvals.selected(selected.length)}</span>
      <Button
        disabled={rules.size > 1}
        onClick={() => onVote({ decision: 'approve', requests: selected })}
      >
        {t.approvals.approve}
      </Button>
      <Button tone="danger" onClick={() => onVote({ decision: 'reject', requests: selected })}>
        {t.approvals.reject}
      </Button>
      {rules.size > 1 && <Note tone="info">{t.approvals.oneRule}</Note>}
    </div>
  )
}
