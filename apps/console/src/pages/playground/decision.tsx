import type { DryRunAnswer } from '@remit/contract'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { ActionForm } from '../../ui/action.tsx'
import { Input, TextArea } from '../../ui/field.tsx'
import { Card, Grid, Stack, Table } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Decision, Literal } from '../../ui/values.tsx'
import { fieldsOf } from '../rules/validation.ts'
import { readObject } from './json.ts'
import styles from './playground.module.css'

export function DecisionPlayground() {
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
