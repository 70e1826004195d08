import type { SpendLimit } from '@remit/contract'
import { WINDOWS } from '@remit/contract/values'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { ActionDialog } from '../../ui/action.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Grid } from '../../ui/layout.tsx'
import { Failure } from '../../ui/states.tsx'
import { Meter } from '../../ui/tile.tsx'
import { announce } from '../../ui/toasts.tsx'
import { fieldsOf } from '../rules/validation.ts'
import { limitDrafts } from './limit-draft.ts'

interface LimitDialogProps {
  /** Null for a new one. */
  readonly limit: SpendLimit | null
  /** The agent of a new one, where it is known. */
  readonly agent?: string
  readonly onClose: () => void
}

const MISSING = Object.entries(t.spend.missingOptions)

export function LimitDialog({ limit, agent: known, onClose }: LimitDialogProps) {
  const [agent, setAgent] = useState(limit?.agent_id ?? known ?? '')
  const [draft, setDraft] = useState(limit ? limitDrafts.draftOf(limit) : limitDrafts.empty)
  const body = limitDrafts.inputOf(draft)
  const close = (text: string) => ({
    onSuccess: async () => {
      announce(text)
      await refresh('spend')
      await refresh('first-steps')
      onClose()
    },
  })
  const save = useMutation({
    mutationFn: () => remit.setSpendLimit({ params: { id: agent }, body }),
    ...close(t.spend.saved),
  })
  const remove = useMutation({
    mutationFn: () => remit.removeSpendLimit({ params: { id: agent } }),
    ...close(t.spend.removed),
  })
  const { text, choice, faultOf } = fieldsOf({ draft, onDraft: setDraft, error: save.error })
  const path = `/v1/spend-limits/${encodeURIComponent(agent)}`
  return (
    <ActionDialog
      title={t.spend.setTitle}
      onClose={onClose}
      request={() => ({ method: 'POST', path, body })}
      verb={t.common.save}
      isDisabled={agent.trim() === ''}
      action={save}
      more={
        limit && (
          <Button tone="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
            {t.spend.remove}
          </Button>
        )
      }
    >
      <Input
        label={t.spend.agent}
        value={agent}
        readOnly={limit !== null || known !== undefined}
        fault={faultOf('id')}
        onValue={setAgent}
      />
      <Grid>
        {WINDOWS.map(({ name, cap }) => (
          <Input
            key={name}
            {...text(cap)}
            label={t.spend.windows[name].cap}
            inputMode="decimal"
            hint={t.spend.none}
          />
        ))}
      </Grid>
      <Select {...choice('on_missing_amount')} label={t.spend.missing} options={MISSING} />
      {!save.error && remove.error && <Failure error={remove.error} />}
    </ActionDialog>
  )
}

interface UsedProps {
  readonly used: { readonly usd: number; readonly held_usd: number }
  readonly cap: number | null
}

/** A spend with what is held, against its cap. */
export function Used({ used: { usd: settled, held_usd: held }, cap }: UsedProps) {
  const total = settled + held
  if (cap === null) return <>{`${usd(total)} · ${t.spend.noCap}`}</>
  return (
    <>
      {t.spend.of(usd(total), usd(cap))}
      <Meter share={cap === 0 ? 1 : total / cap} />
    </>
  )
}
