import type { AccessDecision } from '@remit/contract'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, TextArea } from '../../ui/field.tsx'
import { Card, Facts, Grid, Row, Stack } from '../../ui/layout.tsx'
import { CurlButton, Failure, Note } from '../../ui/states.tsx'
import { Badge, Literal } from '../../ui/values.tsx'
import { faultAt } from '../rules/validation.ts'
import { readObject } from './json.ts'
import styles from './playground.module.css'

const FIELDS = [
  ['subject.type', t.playground.authzen.subjectType],
  ['subject.id', t.playground.authzen.subjectId],
  ['action.name', t.ledger.action],
  ['resource.type', t.playground.authzen.resourceType],
  ['resource.id', t.playground.authzen.resourceId],
] as const
type FieldName = (typeof FIELDS)[number][0]

const FIRST: Readonly<Record<FieldName, string>> = {
  'subject.type': 'agent',
  'subject.id': 'payer',
  'action.name': 'payments.transfer',
  'resource.type': 'invoice',
  'resource.id': '1001',
}

/** One evaluation in the protocol of OpenID AuthZEN. It is a decision like every other. */
export function AuthzenPlayground() {
  const [values, setValues] = useState(FIRST)
  const [text, setText] = useState('{"amount_usd": 60}')
  const context = readObject(text)
  const body = {
    subject: { type: values['subject.type'], id: values['subject.id'] },
    action: { name: values['action.name'] },
    resource: { type: values['resource.type'], id: values['resource.id'] },
    ...(context && { context }),
  }
  const run = useMutation({ mutationFn: () => remit.accessEvaluation({ body }) })
  const faultOf = (path: string) => faultAt(fieldErrorsOf(run.error), path)
  return (
    <div className={styles['split']}>
      <Card title={t.playground.tabs.authzen}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            run.mutate()
          }}
        >
          <Stack>
            <Note tone="wait">{t.playground.authzen.real}</Note>
            <Grid>
              {FIELDS.map(([name, label]) => (
                <Input
                  key={name}
                  mono
                  label={label}
                  value={values[name]}
                  fault={faultOf(name)}
                  onValue={(value) => setValues({ ...values, [name]: value })}
                />
              ))}
            </Grid>
            <TextArea
              mono
              label={t.playground.context}
              value={text}
              fault={context === null ? t.playground.badContext : faultOf('context')}
              onValue={setText}
            />
            <Row>
              <Button type="submit" tone="primary" disabled={run.isPending || context === null}>
                {t.playground.authzen.evaluate}
              </Button>
              <CurlButton
                request={() => ({ method: 'POST', path: '/access/v1/evaluation', body })}
              />
            </Row>
            {run.error && <Failure error={run.error} />}
          </Stack>
        </form>
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
        <p role="status">
          <Literal>{message ?? ''}</Literal>
        </p>
        <Facts
          rows={[
            [t.playground.reason, reason && <Literal>{reason}</Literal>],
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
        <pre
          className={styles['text']}
          tabIndex={0}
          role="region"
          aria-label={t.playground.authzen.answer}
        >
          <Literal lines>{JSON.stringify(answer, null, 2)}</Literal>
        </pre>
      </Stack>
    </Card>
  )
}
