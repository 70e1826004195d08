import { RULE_VARIABLES } from '../../editor/variables.ts'
import { t } from '../../texts.ts'
import { Checkbox, Input, Select, UtcInput } from '../../ui/field.tsx'
import { Grid, Stack } from '../../ui/layout.tsx'
import { ConditionField } from '../rules/condition-field.tsx'
import { PatternFields } from '../rules/pattern-fields.tsx'
import { fieldsOf } from '../rules/use-validation.ts'
import type { DraftFieldsProps } from '../rules/use-validation.ts'
import { ValidationNote } from '../rules/validation-note.tsx'
import type { Draft } from './draft.ts'

const EFFECTS = [
  ['deny', 'deny'],
  ['allow', 'allow'],
] as const
const PATTERNS = [
  ['agents', t.policies.agents],
  ['actions', t.policies.actions],
  ['resources', t.policies.resources],
] as const

export function RuleForm(props: DraftFieldsProps<Draft>) {
  const { draft, isReadOnly, validation } = props
  const { set, faultOf } = fieldsOf(props)
  return (
    <Stack>
      <Input
        readOnly={isReadOnly}
        label={t.policies.description}
        value={draft.description}
        fault={faultOf('description')}
        onValue={(description) => set({ description })}
      />
      <Select
        label={t.policies.effect}
        value={draft.effect}
        options={EFFECTS}
        disabled={isReadOnly}
        onValue={(effect) => set({ effect: effect === 'allow' ? 'allow' : 'deny' })}
      />
      <PatternFields
        fields={PATTERNS}
        values={draft}
        isReadOnly={isReadOnly}
        faultOf={faultOf}
        onValue={(name, text) => set({ [name]: text })}
      />
      <ConditionField
        value={draft.condition}
        isReadOnly={isReadOnly}
        validation={validation}
        variables={RULE_VARIABLES}
        onValue={(condition) => set({ condition })}
      />
      <Grid>
        <UtcInput
          readOnly={isReadOnly}
          label={t.policies.starts}
          value={draft.not_before}
          fault={faultOf('not_before')}
          onValue={(at) => set({ not_before: at })}
        />
        <UtcInput
          readOnly={isReadOnly}
          label={t.policies.ends}
          value={draft.expires_at}
          fault={faultOf('expires_at')}
          onValue={(at) => set({ expires_at: at })}
        />
      </Grid>
      <Checkbox
        label={t.policies.enabled}
        isOn={draft.enabled}
        disabled={isReadOnly}
        onToggle={(enabled) => set({ enabled })}
      />
      <ValidationNote validation={validation} />
    </Stack>
  )
}
