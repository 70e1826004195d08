import type { SpendLimit } from '@remit/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Grid } from '../../ui/layout.tsx'
import { Modal } from '../../ui/modal.tsx'
import { CurlButton, Failure } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'

interface LimitDialogProps {
  /** Null for a new one. */
  readonly limit: SpendLimit | null
  readonly onClose: () => void
}

const amount = (text: string): number | null => (text.trim() === '' ? null : Number(text))
const MISSING = Object.entries(t.spend.missingOptions)

export function LimitDialog({ limit, onClose }: LimitDialogProps) {
  const client = useQueryClient()
  const [agent, setAgent] = useState(limit?.agent_id ?? '')
  const [daily, setDaily] = useState(String(limit?.daily_usd ?? ''))
  const [monthly, setMonthly] = useState(String(limit?.monthly_usd ?? ''))
  const [missing, setMissing] = useState<'zero' | 'deny'>(limit?.on_missing_amount ?? 'zero')
  const body = {
    daily_usd: amount(daily),
    monthly_usd: amount(monthly),
    on_missing_amount: missing,
    hold_ttl_seconds: limit?.hold_ttl_seconds ?? null,
    ...(limit && { settlement_by_agent: limit.settlement_by_agent }),
  }
  const close = (text: string) => ({
    onSuccess: async () => {
      announce(text)
      await client.invalidateQueries({ queryKey: ['spend'] })
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
  const faultOf = (path: string) =>
    fieldErrorsOf(save.error).find((error) => error.path === path)?.message
  const path = `/v1/spend-limits/${encodeURIComponent(agent)}`
  return (
    <Modal
      isOpen
      title={t.spend.setTitle}
      onClose={onClose}
      footer={
        <>
          <CurlButton request={() => ({ method: 'POST', path, body })} />
          {limit && (
            <Button tone="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
              {t.spend.remove}
            </Button>
          )}
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button
            tone="primary"
            disabled={save.isPending || agent.trim() === ''}
            onClick={() => save.mutate()}
          >
            {t.common.save}
          </Button>
        </>
      }
    >
      <Input
        label={t.spend.agent}
        value={agent}
        readOnly={limit !== null}
        fault={faultOf('id')}
        onValue={setAgent}
      />
      <Grid>
        <Input
          label={t.spend.daily}
          inputMode="decimal"
          hint={t.spend.none}
          value={daily}
          fault={faultOf('daily_usd')}
          onValue={setDaily}
        />
        <Input
          label={t.spend.monthly}
          inputMode="decimal"
          hint={t.spend.none}
          value={monthly}
          fault={faultOf('monthly_usd')}
          onValue={setMonthly}
        />
      </Grid>
      <Select
        label={t.spend.missing}
        value={missing}
        options={MISSING}
        onValue={(value) => setMissing(value === 'deny' ? 'deny' : 'zero')}
      />
      {(save.error ?? remove.error) && <Failure error={save.error ?? remove.error} />}
    </Modal>
  )
}
