import { useQuery, useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleDashed } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { remit } from '../../api/client.ts'
import { agentsQuery } from '../../api/queries.ts'
import { refresh } from '../../api/query-client.ts'
import { keptText } from '../../api/storage.ts'
import { useEvents } from '../../api/events.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { ActionDialog } from '../../ui/action.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/layout.tsx'
import { RegisterDialog } from '../agents/register-dialog.tsx'
import { LimitDialog } from '../spend/limit-dialog.tsx'
import styles from './first-steps.module.css'
import { Input } from '../../ui/field.tsx'
import { Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Decision, Literal } from '../../ui/values.tsx'
import { faultAt } from '../rules/validation.ts'

const ONE = { limit: 1 } as const

/** The state that ticks the steps: one row of each list, and the newest decision of the ledger. */
const stepsQuery = {
  queryKey: ['first-steps'],
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<ReadonlySet<Step>> => {
    const [agents, decisions, limits, policies, rules, organization] = await Promise.all([
      remit.listAgents({ query: ONE, signal }),
      remit.listEntries({
        query: { ...ONE, kind: 'authorization.decided', fields: 'header' },
        signal,
      }),
      remit.listSpendLimits({ query: ONE, signal }),
      remit.listPolicies({ query: ONE, signal }),
      remit.listApprovalRules({ query: ONE, signal }),
      remit.getOrganization({ signal }),
    ])
    const isDone: Readonly<Record<Step, boolean>> = {
      agent: agents.data.length > 0,
      decision: decisions.data.length > 0,
      limit: limits.data.length > 0,
      rule: policies.data.length > 0,
      approver: rules.data.length > 0,
      deny: organization.settings.default_effect === 'deny',
    }
    return new Set(STEPS.filter((step) => isDone[step]))
  },
}

/** The endpoints of the steps: the list is for people who can take all of them. */
const NEEDED = [
  'POST /v1/identity/agents',
  'POST /v1/authorize',
  'POST /v1/spend-limits/{id}',
  'POST /v1/policies',
  'POST /v1/approval-rules/{id}',
  'PATCH /v1/organization',
]

/** Leads from an empty organization to one that denies what no rule allows. It goes when all is done. */
export function FirstSteps() {
  const can = useCan()
  const [isGone, setGone] = useState(() => kept.read() === 'hidden')
  const [open, setOpen] = useState<Step | null>(null)
  const isOn = !isGone && NEEDED.every(can)
  const { data: done } = useQuery({ ...stepsQuery, enabled: isOn })
  useEvents(({ kind }) => {
    if (isOn && (kind !== 'authorization.decided' || done?.has('decision') === false))
      void refresh('first-steps')
  })
  if (!isOn || !done || done.size === STEPS.length) return null
  const next = STEPS.find((step) => !done.has(step))
  const close = () => setOpen(null)
  return (
    <Card
      title={t.firstSteps.title(done.size, STEPS.length)}
      actions={
        <Button
          tone="quiet"
          onClick={() => {
            kept.write('hidden')
            setGone(true)
          }}
        >
          {t.firstSteps.hide}
        </Button>
      }
    >
      <ol className={styles['steps']}>
        {STEPS.map((step) => (
          <li key={step} data-done={done.has(step) ? '' : undefined}>
            {done.has(step) ? (
              <CircleCheck role="img" aria-label={t.firstSteps.done} />
            ) : (
              <CircleDashed role="img" aria-label={t.firstSteps.open} />
            )}
            <span>
              <strong>{t.firstSteps.names[step]}</strong>
              {!done.has(step) && <small>{t.firstSteps.texts[step]}</small>}
            </span>
            {!done.has(step) && (
              <Take step={step} isNext={step === next} onOpen={() => setOpen(step)} />
            )}
          </li>
        ))}
      </ol>
      {open === 'agent' && <RegisterDialog isStaying onClose={close} />}
      {open === 'decision' && <AskDialog onClose={close} />}
      {open === 'limit' && <LimitDialog limit={null} onClose={close} />}
      {open === 'deny' && <DenyDialog onClose={close} />}
    </Card>
  )
}

interface TakeProps {
  readonly step: Step
  readonly isNext: boolean
  readonly onOpen: () => void
}

/** The form of a step: a dialog, or the editor of a rule. */
function Take({ step, isNext, onOpen }: TakeProps): ReactNode {
  const tone = isNext ? 'primary' : undefined
  const text = t.firstSteps.take[step]
  if (step !== 'rule' && step !== 'approver')
    return (
      <Button tone={tone} onClick={onOpen}>
        {text}
      </Button>
    )
  return (
    <Link
      to={step === 'rule' ? '/policies/$id' : '/policies/approval-rules/$id'}
      params={{ id: 'new' }}
      className={buttonClass(tone)}
    >
      {text}
    </Link>
  )
}

/** The way from an empty organization to one that denies what no rule allows. */
const STEPS = ['agent', 'decision', 'limit', 'rule', 'approver', 'deny'] as const
type Step = (typeof STEPS)[number]

/** Without storage, a hidden list is back with the next load. */
const kept = keptText('remit.console.first-steps')

interface DialogProps {
  readonly onClose: () => void
}

/** Asks for a decision as an agent would: it is recorded, and holds no amount. */
function AskDialog({ onClose }: DialogProps) {
  const agents = useQuery(agentsQuery)
  const [agent, setAgent] = useState<string | null>(null)
  const [action, setAction] = useState('mail.send')
  const body = { agent_id: agent ?? agents.data?.data[0]?.agent_id ?? '', action }
  const ask = useMutation({
    mutationFn: () => remit.authorize({ body }),
    onSuccess: () => refresh('first-steps'),
  })
  const faultOf = (path: string) => faultAt(ask.error, path)
  return (
    <ActionDialog
      title={t.firstSteps.names.decision}
      onClose={onClose}
      close={t.common.close}
      request={() => ({ method: 'POST', path: '/v1/authorize', body })}
      verb={t.firstSteps.take.decision}
      action={ask}
    >
      <p>{t.firstSteps.askText}</p>
      <Input
        mono
        label={t.agents.id}
        value={body.agent_id}
        fault={faultOf('agent_id')}
        onValue={setAgent}
      />
      <Input
        mono
        label={t.ledger.action}
        value={action}
        fault={faultOf('action')}
        onValue={setAction}
      />
      {ask.data && (
        <Note tone="info">
          <span role="status">
            <Decision decision={ask.data.decision} /> <Literal>{ask.data.message}</Literal>
          </span>
        </Note>
      )}
    </ActionDialog>
  )
}

/** Makes deny the decision without a matching policy. */
function DenyDialog({ onClose }: DialogProps) {
  const body = { settings: { default_effect: 'deny' as const } }
  const change = useMutation({
    mutationFn: () => remit.changeOrganization({ body }),
    onSuccess: async () => {
      announce(t.settings.saved)
      await refresh()
      onClose()
    },
  })
  return (
    <ActionDialog
      title={t.firstSteps.names.deny}
      onClose={onClose}
      request={() => ({ method: 'PATCH', path: '/v1/organization', body })}
      verb={t.firstSteps.take.deny}
      action={change}
    >
      <p>{t.firstSteps.denyText}</p>
    </ActionDialog>
  )
}
