import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Checkbox, Input, Select, TextArea } from '../../ui/field.tsx'
import { Grid, Stack } from '../../ui/layout.tsx'
import { Note, Skeleton } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Literal } from '../../ui/values.tsx'
import type { Draft } from './draft.ts'
import { contextNamesQuery } from './queries.ts'
import type { ValidationState } from './use-validation.ts'

const ConditionEditor = lazy(async () => ({
  default: (await import('../../editor/condition-editor.tsx')).ConditionEditor,
}))

const EFFECTS = [
  ['deny', 'deny'],
  ['allow', 'allow'],
] as const

interface RuleFormProps {
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
  readonly isReadOnly: boolean
  readonly validation: ValidationState
  readonly faults: readonly { path: string; message: string }[]
}

export function RuleForm({ draft, onDraft, isReadOnly, validation, faults }: RuleFormProps) {
  const set = (change: Partial<Draft>) => onDraft({ ...draft, ...change })
  const errors = validation.data?.errors ?? faults
  const faultOf = (path: string) =>
    errors.find((error) => error.path === path || error.path.startsWith(`${path}.`))?.message
  const shared = { readOnly: isReadOnly }
  return (
    <Stack>
      <Grid>
        <Input
          {...shared}
          label={t.policies.description}
          value={draft.description}
          fault={faultOf('description')}
          onValue={(description) => set({ description })}
        />
        <Select
          label={t.policies.effect}
          value={draft.effect}
          options={EFFECTS}
          onValue={(effect) => set({ effect: effect === 'allow' ? 'allow' : 'deny' })}
        />
      </Grid>
      <Grid>
        {(['agents', 'actions', 'resources'] as const).map((name) => (
          <TextArea
            key={name}
            {...shared}
            mono
            label={t.policies[name]}
            value={draft[name]}
            fault={faultOf(name)}
            onValue={(text) => set({ [name]: text })}
          />
        ))}
      </Grid>
      <p className={ui['hint']}>{t.policies.patternsHint}</p>
      <Condition
        {...{ draft, isReadOnly, validation }}
        onText={(condition) => set({ condition })}
      />
      <Checkbox
        label={t.policies.enabled}
        isOn={draft.enabled}
        disabled={isReadOnly}
        onToggle={(enabled) => set({ enabled })}
      />
      <Messages validation={validation} />
    </Stack>
  )
}

interface ConditionProps {
  readonly draft: Draft
  readonly isReadOnly: boolean
  readonly validation: ValidationState
  readonly onText: (text: string) => void
}

const NO_NAMES: readonly string[] = []

function Condition({ draft, isReadOnly, validation, onText }: ConditionProps) {
  const can = useCan()
  const names = useQuery({ ...contextNamesQuery, enabled: can('GET /v1/ledger') })
  const faults = (validation.data?.errors ?? []).flatMap(({ message, position }) =>
    position ? [{ message, ...position }] : [],
  )
  return (
    <div className={ui['field']}>
      <span className={ui['legend']}>{t.policies.condition}</span>
      <Suspense fallback={<Skeleton />}>
        <ConditionEditor
          label={t.policies.editor}
          value={draft.condition}
          onValue={onText}
          faults={faults}
          isReadOnly={isReadOnly}
          contextNames={names.data ?? NO_NAMES}
        />
      </Suspense>
      <span className={ui['hint']}>{t.policies.conditionHint}</span>
    </div>
  )
}

/** The verdict of the server about the draft, as it is typed. */
function Messages({ validation: { data, isPending } }: { validation: ValidationState }) {
  if (!data) return null
  const lines = data.errors.map(({ path, message }) => `${path}: ${message}`)
  return (
    <div aria-live="polite">
      {data.valid ? (
        <Note tone="allow">{isPending ? t.policies.checking : t.policies.valid}</Note>
      ) : (
        <Note tone="deny">
          <ul>
            {lines.map((line) => (
              <li key={line}>
                <Literal>{line}</Literal>
              </li>
            ))}
          </ul>
        </Note>
      )}
      {data.warnings.map((warning) => (
        <Note key={warning} tone="wait">
          <Literal>{warning}</Literal>
        </Note>
      ))}
    </div>
  )
}
