import type { Entry } from '@remit/contract'
import { amountText, failedText, resourceText, stepsOf } from '@remit/contract/fit'
import { WINDOWS } from '@remit/contract/values'
import type { Window } from '@remit/contract/values'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { agentsQuery, limitQuery } from '../../api/queries.ts'
import { useCan } from '../../api/session.ts'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Facts } from '../../ui/layout.tsx'
import { Note } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Decision, Literal, Time } from '../../ui/values.tsx'
import styles from './approvals.module.css'
import { amountOf, differencesOf, fieldsOf, hiddenIn, isCall, valueText } from './difference.ts'
import type { Difference } from './difference.ts'
import { alikeQuery, decisionsQuery } from './queries.ts'
import type { Request } from './queries.ts'

const CONTEXT = 'context.'
const HIDDEN = 'context.omitted'

/** Warns of rules that require the approval only because their condition failed. */
export function FailedRules({ request }: { request: Request }) {
  const failed = failedText(request.requirements)
  return failed === null ? null : (
    <Note tone="wait">
      <span>
        <Literal>{failed}</Literal> {t.approvals.notDescribed}
      </span>
    </Note>
  )
}

/** The fields of a request, with the changes since people approved a similar one. */
export function RequestFields({ request }: { request: Request }) {
  const { data: alike } = useQuery(alikeQuery(request))
  const [earlier] = alike ?? []
  return (
    <>
      <FieldTable request={request} earlier={earlier} />
      {earlier && (
        <p className={ui['hint']}>
          {t.approvals.changes(differencesOf(earlier, request).length)} ·{' '}
          <Link to="/approvals/$id" params={{ id: earlier.id }} search={{ tab: 'history' }}>
            <Time at={earlier.decided_at ?? earlier.requested_at} />
          </Link>
        </p>
      )}
      {alike?.length === 0 && <p className={ui['hint']}>{t.approvals.noEarlier}</p>}
    </>
  )
}

interface FieldTableProps {
  readonly request: Request
  /** An approved request like it. */
  readonly earlier?: Request | undefined
}

/** A request, one member per row; what it was before stands below what changed. */
export function FieldTable({ request, earlier }: FieldTableProps) {
  const changes = earlier ? differencesOf(earlier, request) : []
  const { asked, session } = fieldsOf(request)
  const amount = amountText(request)
  const before = earlier ? (amountText(earlier) ?? t.approvals.absent) : amount
  const resource = isCall(request) ? '' : resourceText(request)
  const hidden = hiddenIn(request)
  const changeAt = (prefix: string) =>
    changes.find(({ path }) => path === prefix || path.startsWith(`${prefix}.`))
  const guard = session.filter(({ path }) => path.startsWith('guard.'))
  const isFlagged = guard.some(({ path, value }) => path === 'guard.flagged' && value !== false)
  const shown = new Set(asked.map(({ path }) => CONTEXT + path))
  const gone = changes.filter(
    ({ path, now }) => now === null && path.startsWith(CONTEXT) && !path.startsWith(HIDDEN),
  )
  return (
    <dl className={styles['fields']} aria-label={t.approvals.fields}>
      {amount !== null && (
        <FieldRow
          name={t.approvals.amount}
          value={amount}
          was={before === amount ? null : before}
        />
      )}
      {(resource !== '' || changeAt('resource')) && (
        <FieldRow
          name={t.approvals.resource}
          value={resource || t.approvals.absent}
          was={earlier && changeAt('resource') ? resourceText(earlier) || t.approvals.absent : null}
        />
      )}
      {asked.map(({ path, pointer, value }) => (
        <FieldRow
          key={pointer}
          name={path}
          value={valueText(value)}
          was={wasOf(changes.find((one) => one.path === CONTEXT + path))}
          notes={notesOf(request, pointer)}
        />
      ))}
      {gone
        .filter(({ path }) => !shown.has(path))
        .map((change) => (
          <FieldRow
            key={`-${change.path}`}
            name={change.path.slice(CONTEXT.length)}
            value={t.approvals.absent}
            was={wasOf(change)}
          />
        ))}
      {(hidden !== '' || changeAt(HIDDEN)) && (
        <FieldRow
          name={t.approvals.hidden}
          value={hidden || t.common.none}
          isMarked={changeAt(HIDDEN) !== undefined}
          notes={[t.approvals.hiddenHint, ...(changeAt(HIDDEN) ? [t.approvals.hiddenChange] : [])]}
        />
      )}
      {isFlagged && (
        <FieldRow
          name={t.approvals.guard}
          value={guard.flatMap(({ value }) => (value === true ? [] : valueText(value))).join(', ')}
          isMarked
          notes={[t.approvals.guardHint]}
        />
      )}
    </dl>
  )
}

/** A warning about the value at a place of the context. */
function notesOf({ replaced = [], binding_context: bound }: Request, pointer: string): string[] {
  const [name = ''] = stepsOf(pointer)
  const isReplaced = replaced.some((at) => pointer === at || pointer.startsWith(`${at}/`))
  return [
    ...(isReplaced ? [t.approvals.replaced] : []),
    ...(bound !== null && !bound.includes(name) ? [t.approvals.unbound] : []),
  ]
}

const wasOf = (change: Difference | undefined): string | null =>
  change ? (change.was ?? t.approvals.absent) : null

interface FieldRowProps {
  readonly name: string
  readonly value: string
  /** The value of the earlier request, where it was another one. */
  readonly was?: string | null
  readonly isMarked?: boolean
  readonly notes?: readonly string[]
}

const NONE: readonly string[] = []

const FieldRow = ({ name, value, was = null, isMarked = false, notes = NONE }: FieldRowProps) => (
  <div data-marked={was !== null || isMarked ? '' : undefined}>
    <Literal as="dt">{name}</Literal>
    <dd>
      <Literal lines>{value}</Literal>
      {was !== null && (
        <small>
          {t.approvals.was}: <Literal>{was}</Literal>
        </small>
      )}
      {notes.map((note) => (
        <small key={note}>{note}</small>
      ))}
    </dd>
  </div>
)

/** The agent: what it is for, who owns it. */
export function AgentFacts({ request }: { request: Request }) {
  const can = useCan()
  const isOn = can('GET /v1/identity/agents')
  const { data } = useQuery({ ...agentsQuery, enabled: isOn })
  const { agent_id: id, acting_for: actingFor, requested_by: by } = request
  const agent = data?.data.find(({ agent_id }) => agent_id === id)
  const isAway = data !== undefined && !agent && data.next_cursor === null
  return (
    <Facts
      rows={[
        [
          t.approvals.agent,
          <span key="a">
            {agent ? (
              <Link to="/agents/$id" params={{ id }}>
                <Literal>{id}</Literal>
              </Link>
            ) : (
              <Literal>{id}</Literal>
            )}{' '}
            {isAway && <Badge tone="wait">{t.approvals.unregistered}</Badge>}
          </span>,
        ],
        [t.approvals.purpose, agent?.description],
        [t.approvals.owners, agent?.owners.map((owner) => owner.email ?? owner.id).join(', ')],
        [t.approvals.actingFor, actingFor],
        [t.approvals.requestedBy, by.person],
      ]}
    />
  )
}

/** The last decisions about the agent, apart from the one that opened the request. */
export function LastDecisions({ request }: { request: Request }) {
  const { data } = useQuery(decisionsQuery(request.agent_id))
  const rows = (data?.data ?? []).filter(
    ({ data: payload }) => payload?.['decision_id'] !== request.decision_id,
  )
  if (data === undefined) return null
  return (
    <div>
      <h3>{t.approvals.lastDecisions}</h3>
      {rows.length === 0 && <p className={ui['muted']}>{t.approvals.noDecisions}</p>}
      <ul className={styles['brief']}>
        {rows.slice(0, 5).map((one) => (
          <li key={one.seq}>
            {one.decision && <Decision decision={one.decision} />}
            <Link to="/ledger/$seq" params={{ seq: String(one.seq) }}>
              <Literal>{one.action ?? ''}</Literal>
            </Link>
            <Literal as="span">
              {[amountText(contextOf(one)), one.resource].filter(Boolean).join(' · ')}
            </Literal>
            <Time at={one.recorded_at} />
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The context of a decision as recorded; empty after an erasure. */
const contextOf = ({ data }: Entry): Pick<Request, 'context'> => ({
  context: (data?.['context'] ?? {}) as Request['context'],
})

/** Requests of the same agent and action that people approved before. */
export function ApprovedBefore({ request }: { request: Request }) {
  const { data: alike } = useQuery(alikeQuery(request))
  if (!alike || alike.length === 0) return null
  return (
    <div>
      <h3>{t.approvals.approvedBefore}</h3>
      <ul className={styles['brief']}>
        {alike.slice(0, 3).map((one) => (
          <li key={one.id}>
            <Link to="/approvals/$id" params={{ id: one.id }} search={{ tab: 'history' }}>
              <Literal>{amountText(one) ?? (resourceText(one) || one.action)}</Literal>
            </Link>
            <Literal as="span">{amountText(one) === null ? '' : resourceText(one)}</Literal>
            <Time at={one.decided_at ?? one.requested_at} />
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Spend before and after the request, where the agent has a limit. */
export function SpendOfAgent({ request }: { request: Request }) {
  const { data: limit } = useQuery({ ...limitQuery(request.agent_id), staleTime: 10_000 })
  const amount = amountOf(request) ?? 0
  if (!limit) return null
  const line = ({ name, cap }: Window) => {
    const [used, most] = [limit.spent[name].usd + limit.spent[name].held_usd, limit[cap]]
    return most === null ? null : t.approvals.spendLine(usd(used), usd(used + amount), usd(most))
  }
  return (
    <div>
      <h3>{t.approvals.spend}</h3>
      <Facts rows={WINDOWS.map((window) => [t.spend.windows[window.name].now, line(window)])} />
    </div>
  )
}

/** Returns a test for the right to vote on a request: as the server states it, else by role. */
export function useCanVote(): (request: Request) => boolean {
  const can = useCan()
  return ({ can_vote, status }) =>
    status === 'pending' && (can_vote ?? can('POST /v1/approvals/{requestID}/decide'))
}
