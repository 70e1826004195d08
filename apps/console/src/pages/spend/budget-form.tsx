import type { Budget } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { ActionForm } from '../../ui/action.tsx'
import { Checkbox, Input, Select, TextArea } from '../../ui/field.tsx'
import { Card, Grid } from '../../ui/layout.tsx'
import { Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Literal } from '../../ui/values.tsx'
import { fieldsOf } from '../rules/validation.ts'
import { budgetDrafts } from './budget-draft.ts'
import type { MatchDraft } from './budget-draft.ts'
import { budgetsQuery } from './budgets.tsx'

const WINDOWS = Object.entries(t.budgets.windowOptions)
const MISSING = Object.entries(t.budgets.missingOptions)
const SETTLEMENTS = Object.entries(t.budgets.settlementOptions)
const STATES = Object.entries(t.budgets.stateOptions)
const LISTS = ['agents', 'actions', 'resources', 'users'] as const

/** Creates a budget, or changes one. */
export function BudgetForm({ budget }: { budget: Budget | null }) {
  const mayChange = useCan()('PUT /v1/budgets/{id}')
  const navigate = useNavigate()
  const [id, setId] = useState(budget?.id ?? '')
  const [draft, setDraft] = useState(budget ? budgetDrafts.draftOf(budget) : budgetDrafts.empty)
  const parents = useQuery(budgetsQuery).data?.data ?? []
  const body = budgetDrafts.inputOf(draft)
  const headers = budget && { 'If-Match': `"${budget.revision}"` }
  const save = useMutation({
    mutationFn: () => remit.setBudget({ params: { id }, body, ...(headers && { headers }) }),
    onSuccess: async () => {
      announce(t.budgets.saved)
      await refresh('budgets')
      await navigate({ to: '/spend/budgets/$id', params: { id } })
    },
  })
  const { set, text, choice, check, faultOf } = fieldsOf({
    draft,
    onDraft: setDraft,
    isReadOnly: !mayChange,
    error: save.error,
  })
  const isFixed = budget !== null || !mayChange
  const setMatch = (part: Partial<MatchDraft>) => set({ match: { ...draft.match, ...part } })
  const labels = draft.per.startsWith('label:') ? draft.per.slice('label:'.length) : null
  const perOptions = [
    ...Object.entries(t.budgets.perOptions),
    ...(labels === null ? [] : [[draft.per, t.budgets.perLabel(labels)] as const]),
  ]
  return (
    <Card className={ui['form']} title={budget ? t.budgets.details : t.budgets.editTitle}>
      <ActionForm
        noValidate
        isReadOnly={!mayChange}
        request={() => ({
          method: 'PUT',
          path: `/v1/budgets/${encodeURIComponent(id)}`,
          body,
          ...(headers && { headers }),
        })}
        verb={t.common.save}
        isDisabled={id.trim() === ''}
        action={save}
      >
        {budget === null && (
          <Input label={t.budgets.name} value={id} fault={faultOf('id')} onValue={setId} />
        )}
        <Input {...text('description')} label={t.budgets.description} />
        {budget === null && (
          <>
            <p className={ui['hint']}>{t.budgets.fixed}</p>
            <Grid>
              <Select
                {...choice('parent_id')}
                label={t.budgets.parent}
                options={[
                  ['', t.budgets.root],
                  ...parents.map((one): [string, string] => [one.id, one.id]),
                ]}
              />
              <Select {...choice('per')} label={t.budgets.per} options={perOptions} />
              <Input {...text('unit')} label={t.budgets.unit} hint={t.budgets.unitHint} />
              <Select {...choice('window')} label={t.budgets.window} options={WINDOWS} />
              <Input {...text('time_zone')} label={t.budgets.zone} />
            </Grid>
          </>
        )}
        <Grid>
          <Input {...text('limit')} label={t.budgets.limit} inputMode="decimal" />
          <Select
            label={t.budgets.state}
            disabled={!mayChange}
            value={draft.enabled ? draft.mode : 'off'}
            fault={faultOf('mode')}
            options={STATES}
            onValue={(state) =>
              set({
                enabled: state !== 'off',
                mode: state === 'observe' ? 'observe' : 'enforce',
              })
            }
          />
        </Grid>
        {(draft.parent_id !== '' || draft.reserved) && (
          <Checkbox {...check('reserved')} label={t.budgets.reservedText} />
        )}
        {faultOf('reserved') !== undefined && (
          <Note tone="deny">
            <Literal>{faultOf('reserved') ?? ''}</Literal>
          </Note>
        )}
        <h3>{t.budgets.match}</h3>
        <Grid>
          {LISTS.map((name) => (
            <TextArea
              key={name}
              mono
              readOnly={!mayChange}
              label={t.budgets[name]}
              value={draft.match[name]}
              fault={faultOf(`match.${name}`)}
              onValue={(value) => setMatch({ [name]: value })}
            />
          ))}
        </Grid>
        <TextArea
          mono
          readOnly={!mayChange}
          label={t.budgets.labels}
          hint={t.budgets.labelsHint}
          value={draft.match.labels}
          fault={faultOf('match.labels')}
          onValue={(value) => setMatch({ labels: value })}
        />
        <Grid>
          <Select {...choice('on_missing_amount')} label={t.budgets.missing} options={MISSING} />
          <Select
            {...choice('settlement_by_agent')}
            label={t.budgets.settlement}
            options={SETTLEMENTS}
          />
          <Input {...text('hold_ttl_seconds')} label={t.budgets.ttl} hint={t.budgets.ttlHint} />
          <Input {...text('warn_at')} label={t.budgets.warnAt} />
        </Grid>
        {isFixed && budget?.per && <p className={ui['hint']}>{t.budgets.each(budget.per)}</p>}
      </ActionForm>
    </Card>
  )
}
