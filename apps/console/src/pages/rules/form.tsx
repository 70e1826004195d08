import type { RuleMode } from '@remit/contract'
import { useQuery, queryOptions } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Skeleton, Note } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import type { ValidationState } from './validation.ts'
import { remit } from '../../api/client.ts'
import { Select, TextArea } from '../../ui/field.tsx'
import { Grid } from '../../ui/layout.tsx'
import { Literal } from '../../ui/values.tsx'

const ConditionEditor = lazy(async () => ({
  default: (await import('../../editor/condition-editor.tsx')).ConditionEditor,
}))

interface ConditionFieldProps {
  readonly value: string
  readonly onValue: (text: string) => void
  readonly isReadOnly: boolean
  readonly validation: ValidationState | undefined
  /** The variables that a condition of this kind of rule can read. */
  readonly variables: readonly string[]
}

const NO_NAMES: readonly string[] = []

/** A condition with the errors that the server finds in it, at their place. */
export function ConditionField(props: ConditionFieldProps) {
  const { value, onValue, isReadOnly, validation, variables } = props
  const can = useCan()
  const names = useQuery({ ...contextNamesQuery, enabled: can('GET /v1/ledger') })
  const faults = (validation?.data?.errors ?? []).flatMap(({ message, position }) =>
    position ? [{ message, ...position }] : [],
  )
  return (
    <div className={ui['field']}>
      <span className={ui['legend']}>{t.policies.condition}</span>
      <Suspense fallback={<Skeleton />}>
        <ConditionEditor
          label={t.policies.editor}
          value={value}
          onValue={onValue}
          faults={faults}
          isReadOnly={isReadOnly}
          variables={variables}
          contextNames={names.data ?? NO_NAMES}
        />
      </Suspense>
      <span className={ui['hint']}>{t.policies.conditionHint}</span>
    </div>
  )
}

const isName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name)

/** Names that requests had below `context` lately, for completion. */
const contextNamesQuery = queryOptions({
  queryKey: ['context-names'],
  queryFn: async ({ signal }) => {
    const query = { kind: 'authorization.decided', limit: 500 }
    const { data } = await remit.listEntries({ query, signal })
    const names = data.flatMap((entry) => Object.keys(entry.data?.['context'] ?? {}))
    return [...new Set(names)].filter(isName).toSorted((one, other) => (one < other ? -1 : 1))
  },
  staleTime: 300_000,
})

interface RuleState {
  readonly enabled: boolean
  readonly mode: RuleMode
}

/** A rule is enforced, observed or disabled: two members of its body. */
export const StateField = ({
  draft,
  isReadOnly,
  onState,
}: {
  readonly draft: RuleState
  readonly isReadOnly: boolean
  readonly onState: (state: RuleState) => void
}) => (
  <Select
    label={t.policies.state}
    hint={draft.enabled && draft.mode === 'observe' ? t.policies.observeHint : undefined}
    disabled={isReadOnly}
    value={draft.enabled ? draft.mode : 'disabled'}
    options={Object.entries(t.policies.states)}
    onValue={(state) =>
      onState({ enabled: state !== 'disabled', mode: state === 'observe' ? state : 'enforce' })
    }
  />
)

interface PatternFieldsProps<Name extends string> {
  /** Each name with its label. */
  readonly fields: readonly (readonly [name: Name, label: string])[]
  readonly values: Readonly<Record<Name, string>>
  readonly onValue: (name: Name, text: string) => void
  readonly faultOf: (name: Name) => string | undefined
  readonly isReadOnly: boolean
  readonly hint?: string
}

/** The patterns of policies and approval rules. */
export const PATTERNS = (['agents', 'actions', 'resources'] as const).map(
  (name) => [name, t.policies[name]] as const,
)

/** Lists of patterns, one a line. */
export function PatternFields<Name extends string>(props: PatternFieldsProps<Name>) {
  const { fields, values, onValue, faultOf, isReadOnly, hint = t.policies.patternsHint } = props
  return (
    <div>
      <Grid>
        {fields.map(([name, label]) => (
          <TextArea
            key={name}
            mono
            readOnly={isReadOnly}
            label={label}
            value={values[name]}
            fault={faultOf(name)}
            onValue={(text) => onValue(name, text)}
          />
        ))}
      </Grid>
      <p className={ui['hint']}>{hint}</p>
    </div>
  )
}

/** The verdict of the server about a draft, as it is typed. */
export function ValidationNote({ validation }: { validation: ValidationState | undefined }) {
  if (!validation?.data) return null
  const { data, isPending } = validation
  const lines = data.errors.map(({ path, message }) => `${path}: ${message}`)
  return (
    <div aria-live="polite">
      {data.valid ? (
        <Note tone="allow">{isPending ? t.policies.checking : t.policies.valid}</Note>
      ) : (
        <Note tone="deny">
          <ul>
            {lines.map((line) => (
              <Literal as="li" key={line}>
                {line}
              </Literal>
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
