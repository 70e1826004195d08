import { TRUST_VARIABLES } from '../../editor/variables.ts'
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
  ['allow', 'allow'],
  ['deny', 'deny'],
] as const
const PATTERNS = [
  ['source_agents', t.agents.trust.source],
  ['target_agents', t.agents.trust.target],
  ['actions', t.agents.trust.actions],
] as const

export function TrustForm(props: DraftFieldsProps<Draft>) {
  const { draft, isReadOnly, validation } = props
  const { set, faultOf } = fieldsOf(props)
  return (
    <Stack>
      <Grid>
        <Input
          readOnly={isReadOnly}
          label={t.agents.trust.description}
          value={draft.description}
          fault={faultOf('description')}
          onValue={(description) => set({ description })}
        />
        <Select
          label={t.agents.trust.effect}
          value={draft.effect}
          options={EFFECTS}
          disabled={isReadOnly}
          onValue={(effect) => set({ effect: effect === 'deny' ? 'deny' : 'allow' })}
        />
      </Grid>
      <PatternFields
        fields={PATTERNS}
        values={draft}
        isReadOnly={isReadOnly}
        hint={t.agents.trust.selectorsHint}
        faultOf={faultOf}
        onValue={(name, text) => set({ [name]: text })}
      />
      <ConditionField
        value={draft.condition}
        isReadOnly={isReadOnly}
        validation={validation}
        variables={TRUST_VARIABLES}
        onValue={(condition) => set({ condition })}
      />
      <Grid>
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
