import type { AccessDecision } from '@remit/contract'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { ActionForm } from '../../ui/action.tsx'
import { Input, TextArea } from '../../ui/field.tsx'
import { Card, Facts, Grid, Stack } from '../../ui/layout.tsx'
import { Note, Pre } from '../../ui/states.tsx'
import { Badge, Literal } from '../../ui/values.tsx'
import { fieldsOf } from '../rules/validation.ts'
import { readObject } from './json.ts'
import styles from './playground.module.css'

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
export function AuthzenPlayground() {
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
