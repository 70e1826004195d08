import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleDashed } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { remit } from '../../api/client.ts'
import { useEvents } from '../../api/events.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/layout.tsx'
import { RegisterDialog } from '../agents/register-dialog.tsx'
import { LimitDialog } from '../spend/limit-dialog.tsx'
import { AskDialog, DenyDialog } from './first-step-dialogs.tsx'
import styles from './first-steps.module.css'
import { isHidden, hide, STEPS } from './steps.ts'
import type { Step } from './steps.ts'

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
  const client = useQueryClient()
  const [isGone, setGone] = useState(isHidden)
  const [open, setOpen] = useState<Step | null>(null)
  const isOn = !isGone && NEEDED.every(can)
  const { data: done } = useQuery({ ...stepsQuery, enabled: isOn })
  useEvents(({ kind }) => {
    if (isOn && (kind !== 'authorization.decided' || done?.has('decision') === false))
      void client.invalidateQueries({ queryKey: stepsQuery.queryKey })
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
            hide()
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
