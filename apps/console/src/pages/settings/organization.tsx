import type { Organization, OrganizationChange } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { organizationQuery } from '../../api/queries.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { ActionForm } from '../../ui/action.tsx'
import { Checkbox, Input, Select, TextArea } from '../../ui/field.tsx'
import { Card } from '../../ui/layout.tsx'
import { Loaded, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Literal } from '../../ui/values.tsx'
import { fieldErrorsOf } from '../rules/validation.ts'
import { SETTING_TEXTS } from './setting-texts.ts'

type Values = Organization['settings']
type Change = OrganizationChange['settings']

const EFFECTS = ['allow', 'deny'] as const
const CHOICES: Partial<Record<keyof Values, readonly string[]>> = {
  at_monthly_limit: ['deny', 'overage'],
  rule_changes: ['direct', 'approve_weakening', 'approve_all'],
}

export function OrganizationPanel() {
  const query = useQuery(organizationQuery)
  return <Loaded query={query}>{(organization) => <Form stored={organization} />}</Loaded>
}

function Form({ stored }: { stored: Organization }) {
  const can = useCan()
  const [change, setChange] = useState<Change>({})
  const [isShort, setShort] = useState(false)
  const values: Values = { ...stored.settings, ...(change as Partial<Values>) }
  const mayChange = can('PATCH /v1/organization')
  const body = { settings: change, ...(isShort && { acknowledge_short_retention: true }) }
  const save = useMutation({
    mutationFn: () => remit.changeOrganization({ body }),
    onSuccess: () => {
      announce(t.settings.saved)
      setChange({})
      return refresh('organization')
    },
  })
  const set = (part: Change) => setChange({ ...change, ...part })
  const errors = fieldErrorsOf(save.error)
  const faultOf = (name: string) => errors.find(({ path }) => path.includes(name))?.message
  return (
    <Card className={ui['form']} title={t.settings.tabs.organization}>
      <ActionForm
        noValidate
        isReadOnly={!mayChange}
        request={() => ({ method: 'PATCH', path: '/v1/organization', body })}
        verb={t.settings.save}
        isDisabled={Object.keys(change).length === 0}
        action={save}
      >
        {Object.entries(values).map(([name, value]) => (
          <Setting
            key={name}
            name={name as keyof Values}
            value={value}
            isReadOnly={!mayChange}
            fault={faultOf(name)}
            onValue={(next) => set({ [name]: next })}
          />
        ))}
        {faultOf('acknowledge') !== undefined && (
          <Checkbox label={t.settings.acknowledge} isOn={isShort} onToggle={setShort} />
        )}
        {stored.warnings?.map((warning) => (
          <Note key={warning} tone="wait">
            <Literal>{warning}</Literal>
          </Note>
        ))}
      </ActionForm>
    </Card>
  )
}

interface SettingProps {
  readonly name: keyof Values
  readonly value: Values[keyof Values]
  readonly isReadOnly: boolean
  readonly fault: string | undefined
  readonly onValue: (value: Values[keyof Values]) => void
}

/** One setting with the effect of a change, by the kind of its value. */
function Setting({ name, value, isReadOnly, fault, onValue }: SettingProps) {
  const { label, text: effect, warnings } = SETTING_TEXTS[name]
  const warning = warnings?.[String(value)]
  const hint = (
    <>
      {effect} <code>{name}</code>
    </>
  )
  const shared = { label, hint, fault }
  if (typeof value === 'boolean')
    return (
      <Checkbox label={label} hint={hint} isOn={value} disabled={isReadOnly} onToggle={onValue} />
    )
  if (typeof value === 'number')
    return (
      <Input
        {...shared}
        type="number"
        readOnly={isReadOnly}
        value={String(value)}
        onValue={(text) => onValue(Number(text))}
      />
    )
  if (typeof value === 'string')
    return (
      <>
        <Select
          {...shared}
          value={value}
          disabled={isReadOnly}
          options={CHOICES[name] ?? EFFECTS}
          onValue={(text) => onValue(text as typeof value)}
        />
        {warning !== undefined && <Note tone="wait">{warning}</Note>}
      </>
    )
  return (
    <TextArea
      {...shared}
      mono
      readOnly={isReadOnly}
      value={value.join('\n')}
      onValue={(text) => onValue(text === '' ? [] : text.split('\n'))}
    />
  )
}
