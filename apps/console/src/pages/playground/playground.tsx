import type { AccessDecision, DryRunAnswer } from '@remit/contract'
import { useMutation } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { ActionForm } from '../../ui/action.tsx'
import { Input, TextArea } from '../../ui/field.tsx'
import { Card, Facts, Grid, Stack, TabPage, Table } from '../../ui/layout.tsx'
import { Note, Pre } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Decision, Literal } from '../../ui/values.tsx'
import { fieldsOf } from '../rules/validation.ts'
import { GuardPlayground } from './guard.tsx'
import { readObject } from './json.ts'
import styles from './playground.module.css'
import { ScorerPlayground } from './scorers.tsx'

const { tabs } = t.playground
const TABS = [
  { label: tabs.guard, value: 'guard', needs: 'POST /v1/guard', Panel: GuardPlayground },
  { label: tabs.scorers, value: 'scorers', needs: 'POST /v1/scorers', Panel: ScorerPlayground },
  {
    label: tabs.decision,
    value: 'decision',
    needs: 'POST /v1/compliance/policies/dry-run',
    Panel: DecisionPlayground,
  },
  {
    label: tabs.authzen,
    value: 'authzen',
    needs: 'POST /access/v1/evaluation',
    Panel: AuthzenPlayground,
  },
]

export function Playground() {
  const { tab } = useSearch({ from: '/playground' })
  return <TabPage title={t.playground.title} tabs={TABS} current={tab} />
}

function DecisionPlayground() {
  const [draft, setDraft] = useState({
    agent: 'payer',
    action: 'payments.transfer',
    resource: '',
    context: '{"amount_usd": 60}',
  })
  const { agent, action, resource } = draft
  const context = readObject(draft.context)
  const body = {
    agent_id: agent,
    action,
    ...(resource !== '' && { resource }),
    ...(context && { context }),
  }
  const run = useMutation({ mutationFn: () => remit.dryRunPolicies({ body }) })
  const { text, faultOf } = fieldsOf({ draft, onDraft: setDraft, error: run.error })
  return (
    <div className={styles['split']}>
      <Card title={t.playground.tabs.decision}>
        <ActionForm
          request={() => ({ method: 'POST', path: '/v1/compliance/policies/dry-run', body })}
          verb={t.playground.decide}
          isDisabled={context === null}
          action={run}
        >
          <p className={ui['muted']}>{t.playground.decideHint}</p>
          <Grid>
            <Input {...text('agent', 'agent_id')} label={t.ledger.agent} />
            <Input {...text('action')} label={t.ledger.action} />
            <Input {...text('resource')} label={t.ledger.resource} />
          </Grid>
          <TextArea
            {...text('context')}
            mono
            label={t.playground.context}
            fault={context === null ? t.playground.badContext : faultOf('context')}
          />
        </ActionForm>
      </Card>
      {run.data && 'trace' in run.data && <Trace answer={run.data} />}
    </div>
  )
}

const TONES = { pass: 'allow', deny: 'deny', needs_approval: 'wait' } as const

function Trace({ answer }: { answer: Extract<DryRunAnswer, { trace: unknown }> }) {
  const { decision, message, trace, warnings } = answer
  return (
    <Card title={t.playground.trace} actions={<Decision decision={decision} />}>
      <Stack>
        <Literal as="p" role="status">
          {message}
        </Literal>
        <Table
          label={t.playground.trace}
          rows={trace}
          rowKey={({ stage }) => stage}
          columns={[
            { name: t.playground.stage, cell: ({ stage }) => stage.replace('_', ' ') },
            {
              name: t.playground.verdict,
              cell: ({ verdict }) => (
                <Badge tone={TONES[verdict]}>{verdict.replace('_', ' ')}</Badge>
              ),
            },
            {
              name: t.playground.matched,
              cell: ({ matched = [] }) => (
                <Literal as="span" className={styles['matched']}>
                  {matched.map(({ kind, id }) => `${kind} ${id}`).join(', ')}
                </Literal>
              ),
            },
            {
              name: t.playground.reason,
              cell: ({ reason, message: said }) => (
                <>
                  <Literal>{reason ?? ''}</Literal>
                  {said !== undefined && said !== message && (
                    <Literal as="div" className={ui['hint']}>
                      {said}
                    </Literal>
                  )}
                </>
              ),
            },
          ]}
        />
        {warnings.map((warning) => (
          <Literal as="p" key={warning} className={ui['hint']}>
            {warning}
          </Literal>
        ))}
      </Stack>
    </Card>
  )
}

const FIELDS = [
  ['subject.type', t.playground.authzen.subjectType],
  ['subject.id', t.playground.authzen.subjectId],
  ['action.name', t.ledger.action],
  ['resource.type', t.playground.authzen.resourceType],
  ['resource.id', t.playground.authzen.resourceId],
] as const

const FIRST = {
  'subject.type': 'agent',
  'subject.id': 'payer',
  'action.name': 'payments.transfer',
  'resource.type': 'invoice',
  'resource.id': '1001',
  context: '{"amount_usd": 60}',
}

/** One evaluation in the protocol of OpenID AuthZEN. It is a decision like every other. */
function AuthzenPlayground() {
  const [draft, setDraft] = useState(FIRST)
  const context = readObject(draft.context)
  const body = {
    subject: { type: draft['subject.type'], id: draft['subject.id'] },
    action: { name: draft['action.name'] },
    resource: { type: draft['resource.type'], id: draft['resource.id'] },
    ...(context && { context }),
  }
  const run = useMutation({ mutationFn: () => remit.accessEvaluation({ body }) })
  const { text, faultOf } = fieldsOf({ draft, onDraft: setDraft, error: run.error })
  return (
    <div className={styles['split']}>
      <Card title={t.playground.tabs.authzen}>
        <ActionForm
          request={() => ({ method: 'POST', path: '/access/v1/evaluation', body })}
          verb={t.playground.authzen.evaluate}
          isDisabled={context === null}
          action={run}
        >
          <Note tone="wait">{t.playground.authzen.real}</Note>
          <Grid>
            {FIELDS.map(([name, label]) => (
              <Input {...text(name)} key={name} mono label={label} />
            ))}
          </Grid>
          <TextArea
            {...text('context')}
            mono
            label={t.playground.context}
            fault={context === null ? t.playground.badContext : faultOf('context')}
          />
        </ActionForm>
      </Card>
      {run.data && <Answer answer={run.data} />}
    </div>
  )
}

function Answer({ answer }: { answer: AccessDecision }) {
  const { decision, context } = answer
  const { reason, message, matched = [], ledger } = context
  return (
    <Card
      title={t.playground.authzen.answer}
      actions={<Badge tone={decision ? 'allow' : 'deny'}>{`decision: ${decision}`}</Badge>}
    >
      <Stack>
        <Literal as="p" role="status">
          {message ?? ''}
        </Literal>
        <Facts
          rows={[
            [t.playground.reason, reason],
            [
              t.playground.matched,
              <Literal key="m">
                {matched.map(({ kind, id }) => `${kind} ${id}`).join(', ')}
              </Literal>,
            ],
            [
              t.ledger.seq,
              ledger && (
                <Link to="/ledger/$seq" params={{ seq: String(ledger.seq) }}>
                  {ledger.seq}
                </Link>
              ),
            ],
          ]}
        />
        <Pre label={t.playground.authzen.answer} className={styles['text']}>
          <Literal lines>{JSON.stringify(answer, null, 2)}</Literal>
        </Pre>
      </Stack>
    </Card>
  )
}
