import type { ApprovalRule } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { RULE_VARIABLES } from '../../editor/condition-editor.tsx'
import { t } from '../../texts.ts'
import { Input, Checkbox, TextArea } from '../../ui/field.tsx'
import { Page, Stack, Grid } from '../../ui/layout.tsx'
import { Loaded, Note } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { requestQuery } from '../approvals/queries.ts'
import { exceptLike } from '../policies/like-request.ts'
import { versionOf } from '../rules/draft.ts'
import type { Version } from '../rules/draft.ts'
import { DeleteRule, DraftForm, useDraft } from '../rules/editor.tsx'
import {
  ConditionField,
  PatternFields,
  PATTERNS,
  StateField,
  ValidationNote,
} from '../rules/form.tsx'
import { ObservedCard } from '../rules/observed.tsx'
import { faultAt, fieldsOf, withCondition } from '../rules/validation.ts'
import type { DraftFieldsProps } from '../rules/validation.ts'
import { approvalRuleDrafts } from './draft.ts'
import type { Draft } from './draft.ts'

const pathOf = (id: string): string => `/v1/approval-rules/${encodeURIComponent(id)}`

const readRule = (id: string, signal?: AbortSignal): Promise<Version<ApprovalRule>> =>
  versionOf(remit.getApprovalRule.withResponse({ params: { id }, ...(signal && { signal }) }))

/** One approval rule. The id `new` makes one; with `except`, the draft no longer asks for such requests. */
export function ApprovalRuleEditor() {
  const { id } = useParams({ from: '/policies/approval-rules/$id' })
  const { except } = useSearch({ from: '/policies/approval-rules/$id' })
  if (id === 'new')
    return (
      <Page title={t.policies.newRule}>
        <Editor stored={null} first={approvalRuleDrafts.empty} />
      </Page>
    )
  return (
    <Page title={t.approvalRules.edit(id)}>
      <Existing key={`${id} ${except}`} id={id} except={except} />
    </Page>
  )
}

function Existing({ id, except }: { id: string; except: string | undefined }) {
  const query = useQuery({
    queryKey: ['approval-rules', id],
    queryFn: ({ signal }) => readRule(id, signal),
    refetchOnWindowFocus: false,
  })
  const request = useQuery({
    ...requestQuery(except ?? ''),
    enabled: except !== undefined,
    refetchOnWindowFocus: false,
  })
  return (
    <Loaded query={query}>
      {(stored) =>
        except === undefined ? (
          <Stack>
            {stored.rule.mode === 'observe' && <ObservedCard kind="approval_rule" id={id} />}
            <Editor stored={stored} first={approvalRuleDrafts.draftOf(stored.rule)} />
          </Stack>
        ) : (
          <Loaded query={request}>
            {(like) => (
              <Stack>
                <Note tone="info">{t.approvalRules.exceptNote}</Note>
                <Editor
                  stored={stored}
                  first={{
                    ...approvalRuleDrafts.draftOf(stored.rule),
                    condition: exceptLike(stored.rule.condition, like),
                  }}
                />
              </Stack>
            )}
          </Loaded>
        )
      }
    </Loaded>
  )
}

function Editor({ stored, first }: { stored: Version<ApprovalRule> | null; first: Draft }) {
  const can = useCan()
  const navigate = useNavigate()
  const [id, setId] = useState(stored?.rule.id ?? '')
  const mayChange = can('POST /v1/approval-rules/{id}')
  const editor = useDraft({
    kind: 'approval-rules',
    drafts: approvalRuleDrafts,
    first,
    stored,
    mayChange,
    id,
    // The id of a rule is part of its path; any valid one serves for a draft without.
    validate: (input, signal, typed) =>
      withCondition(input, (body) =>
        remit.setApprovalRule({
          params: { id: typed || 'draft' },
          query: { validate: 'true' },
          body,
          signal,
        }),
      ),
    store: (body, headers) => remit.setApprovalRule({ params: { id }, body, headers }),
    ...(stored && { read: () => readRule(id) }),
    onSaved: () => navigate({ to: '/policies/approval-rules/$id', params: { id } }),
  })
  const { input, fields } = editor
  return (
    <DraftForm
      editor={editor}
      className={ui['form']}
      actions={
        stored &&
        can('DELETE /v1/approval-rules/{id}') && (
          <DeleteRule
            kind="approval-rules"
            texts={t.approvalRules}
            path={pathOf(stored.rule.id)}
            onDelete={() => remit.removeApprovalRule({ params: { id: stored.rule.id } })}
          />
        )
      }
      isComplete={id.trim() !== '' && input.actions.length > 0}
      save={stored ? t.policies.save : t.policies.create}
      request={() => ({ method: 'POST', path: pathOf(id), body: input })}
    >
      {!mayChange && <Note tone="info">{t.approvalRules.readOnly}</Note>}
      {!stored && (
        <Input
          mono
          required
          label={t.approvalRules.id}
          hint={t.approvalRules.idHint}
          value={id}
          fault={faultAt(fields.error, 'id')}
          onValue={setId}
        />
      )}
      <ApprovalRuleForm {...fields} />
      {editor.conflict}
    </DraftForm>
  )
}

const APPROVERS = [
  ['users', t.approvalRules.users],
  ['roles', t.approvalRules.roles],
] as const
const NUMBERS = Object.keys(t.approvalRules.numbers) as (keyof typeof t.approvalRules.numbers)[]

function ApprovalRuleForm(props: DraftFieldsProps<Draft>) {
  const { draft, isReadOnly = false } = props
  const { set, faultOf, text, check, state, condition, patterns } = fieldsOf(props)
  return (
    <Stack>
      <Input
        {...text('description')}
        label={t.policies.description}
        hint={t.approvalRules.descriptionHint}
      />
      <PatternFields {...patterns} fields={PATTERNS} />
      <ConditionField {...condition('condition')} variables={RULE_VARIABLES} />
      <PatternFields
        values={draft.approvers}
        isReadOnly={isReadOnly}
        fields={APPROVERS}
        hint={t.approvalRules.approversHint}
        faultOf={(name) =>
          faultOf(`approvers.${name}`) ?? (name === 'users' ? faultOf('approvers') : undefined)
        }
        onValue={(name, typed) => set({ approvers: { ...draft.approvers, [name]: typed } })}
      />
      <Grid style={{ alignItems: 'end' }}>
        {NUMBERS.map((name) => (
          <Input
            {...text(name)}
            key={name}
            inputMode="numeric"
            label={t.approvalRules.numbers[name]}
          />
        ))}
      </Grid>
      <Checkbox {...check('prevent_self_approval')} label={t.approvalRules.preventSelf} />
      <Checkbox {...check('reason_required')} label={t.approvalRules.reasonRequired} />
      <Checkbox {...check('comment_to_agent')} label={t.approvalRules.commentToAgent} />
      <Checkbox
        label={t.approvalRules.bindAll}
        hint={t.approvalRules.bindHint}
        isOn={draft.binding_context === null}
        disabled={isReadOnly}
        onToggle={(isOn) => set({ binding_context: isOn ? null : '' })}
      />
      {draft.binding_context !== null && (
        <TextArea
          {...text('binding_context')}
          mono
          label={t.approvalRules.bound}
          hint={t.approvalRules.boundHint}
          value={draft.binding_context}
        />
      )}
      <StateField {...state} />
      <ValidationNote validation={props.validation} />
    </Stack>
  )
}
