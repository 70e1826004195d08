import { RULE_VARIABLES } from '../../editor/variables.ts'
import { t } from '../../texts.ts'
import { Checkbox, Input, TextArea } from '../../ui/field.tsx'
import { Grid, Stack } from '../../ui/layout.tsx'
import { ConditionField } from '../rules/condition-field.tsx'
import { PatternFields } from '../rules/pattern-fields.tsx'
import { fieldsOf } from '../rules/use-validation.ts'
import type { DraftFieldsProps } from '../rules/use-validation.ts'
import { ValidationNote } from '../rules/validation-note.tsx'
import type { Draft } from './draft.ts'

const PATTERNS = [
  ['agents', t.policies.agents],
  ['actions', t.policies.actions],
  ['resources', t.policies.resources],
] as const
const APPROVERS = [
  ['users', t.approvalRules.users],
  ['roles', t.approvalRules.roles],
] as const
const NUMBERS = [
  'required_approvals',
  'required_rejections',
  'request_ttl_seconds',
  'approval_ttl_seconds',
  'rejection_cooldown_seconds',
] as const

export function ApprovalRuleForm(props: DraftFieldsProps<Draft>) {
  const { draft, isReadOnly, validation } = props
  const { set, faultOf } = fieldsOf(props)
  return (
    <Stack>
      <Input
        readOnly={isReadOnly}
        label={t.policies.description}
        hint={t.approvalRules.descriptionHint}
        value={draft.description}
        fault={faultOf('description')}
        onValue={(description) => set({ description })}
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
      <PatternFields
        fields={APPROVERS}
        values={draft}
        isReadOnly={isReadOnly}
        hint={t.approvalRules.approversHint}
        faultOf={(name) =>
          faultOf(`approvers.${name}`) ?? (name === 'users' ? faultOf('approvers') : undefined)
        }
        onValue={(name, text) => set({ [name]: text })}
      />
      <Grid style={{ alignItems: 'end' }}>
        {NUMBERS.map((name) => (
          <Input
            key={name}
            readOnly={isReadOnly}
            inputMode="numeric"
            label={t.approvalRules.numbers[name]}
            value={draft[name]}
            fault={faultOf(name)}
            onValue={(text) => set({ [name]: text })}
          />
        ))}
      </Grid>
      <Checkbox
        label={t.approvalRules.preventSelf}
        isOn={draft.prevent_self_approval}
        disabled={isReadOnly}
        onToggle={(isOn) => set({ prevent_self_approval: isOn })}
      />
      <Checkbox
        label={t.approvalRules.reasonRequired}
        isOn={draft.reason_required}
        disabled={isReadOnly}
        onToggle={(isOn) => set({ reason_required: isOn })}
      />
      <Checkbox
        label={t.approvalRules.commentToAgent}
        isOn={draft.comment_to_agent}
        disabled={isReadOnly}
        onToggle={(isOn) => set({ comment_to_agent: isOn })}
      />
      <Checkbox
        label={t.approvalRules.bindAll}
        hint={t.approvalRules.bindHint}
        isOn={draft.binding_context === null}
        disabled={isReadOnly}
        onToggle={(isOn) => set({ binding_context: isOn ? null : '' })}
      />
      {draft.binding_context !== null && (
        <TextArea
          mono
          readOnly={isReadOnly}
          label={t.approvalRules.bound}
          hint={t.approvalRules.boundHint}
          value={draft.binding_context}
          fault={faultOf('binding_context')}
          onValue={(text) => set({ binding_context: text })}
        />
      )}
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
