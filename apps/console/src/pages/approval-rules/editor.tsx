import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { ConfirmDelete } from '../../ui/confirm-delete.tsx'
import { Input, Checkbox, TextArea } from '../../ui/field.tsx'
import { Page, Stack, Grid } from '../../ui/layout.tsx'
import { Loaded, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { requestQuery } from '../approvals/queries.ts'
import { exceptLike } from '../policies/like-request.ts'
import {
  Conflict,
  isOutdated,
  DraftForm,
  ConditionField,
  PatternFields,
  ValidationNote,
} from '../rules/form.tsx'
import { useValidation, fieldsOf } from '../rules/validation.ts'
import type { DraftFieldsProps } from '../rules/validation.ts'
import { draftOf, EMPTY, inputOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { pathOf, readRule, ruleQuery, validateRule } from './queries.ts'
import type { Stored } from './queries.ts'
import { RULE_VARIABLES } from '../../editor/condition-editor.tsx'

/** One approval rule. The id `new` makes one; with `except`, the draft no longer asks for such requests. */
export function ApprovalRuleEditor() {
  const { id } = useParams({ from: '/policies/approval-rules/$id' })
  const { except } = useSearch({ from: '/policies/approval-rules/$id' })
  if (id === 'new')
    return (
      <Page title={t.policies.newRule}>
        <Editor stored={null} first={EMPTY} />
      </Page>
    )
  return (
    <Page title={t.approvalRules.edit(id)}>
      <Existing key={`${id} ${except}`} id={id} except={except} />
    </Page>
  )
}

function Existing({ id, except }: { id: string; except: string | undefined }) {
  const query = useQuery(ruleQuery(id))
  const request = useQuery({
    ...requestQuery(except ?? ''),
    enabled: except !== undefined,
    refetchOnWindowFocus: false,
  })
  return (
    <Loaded query={query}>
      {(stored) =>
        except === undefined ? (
          <Editor stored={stored} first={draftOf(stored.rule)} />
        ) : (
          <Loaded query={request}>
            {(like) => (
              <Stack>
                <Note tone="info">{t.approvalRules.exceptNote}</Note>
                <Editor
                  stored={stored}
                  first={{
                    ...draftOf(stored.rule),
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

function Editor({ stored, first }: { stored: Stored | null; first: Draft }) {
  const can = useCan()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [id, setId] = useState(stored?.rule.id ?? '')
  const [draft, setDraft] = useState(first)
  /** The version that the draft began with: a newer one makes Save a conflict. */
  const [base, setBase] = useState(stored)
  const body = inputOf(draft)
  const mayChange = can('POST /v1/approval-rules/{id}')
  const validation = useValidation({
    name: 'approval-rule',
    input: mayChange && draft !== EMPTY ? { id, body } : null,
    ask: validateRule,
  })
  const save = useMutation({
    mutationFn: async ({ version, edited }: { version: Stored | null; edited: Draft }) => {
      const headers = version ? { 'if-match': version.etag } : {}
      await remit.setApprovalRule({ params: { id }, body: inputOf(edited), headers })
      return client.query({ ...ruleQuery(id), staleTime: 0 })
    },
    onSuccess: async (next) => {
      announce(t.policies.saved)
      setBase(next)
      await client.invalidateQueries({ queryKey: ['approval-rules'] })
      await navigate({ to: '/policies/approval-rules/$id', params: { id } })
    },
  })
  const isConflict = isOutdated(save.error)
  return (
    <DraftForm
      className={ui['form']}
      actions={
        stored &&
        can('DELETE /v1/approval-rules/{id}') && (
          <ConfirmDelete
            title={t.approvalRules.deleteTitle}
            text={t.approvalRules.deleteText}
            request={() => ({ method: 'DELETE', path: pathOf(stored.rule.id) })}
            onDelete={() => remit.removeApprovalRule({ params: { id: stored.rule.id } })}
            onDeleted={async () => {
              await navigate({ to: '/policies', search: { tab: 'approval-rules' } })
              await client.invalidateQueries({ queryKey: ['approval-rules'] })
            }}
          />
        )
      }
      mayChange={mayChange}
      canSave={
        !save.isPending &&
        validation.data?.valid !== false &&
        id.trim() !== '' &&
        body.actions.length > 0
      }
      save={stored ? t.policies.save : t.policies.create}
      onSave={() => save.mutate({ version: base, edited: draft })}
      error={isConflict ? null : save.error}
      request={() => ({
        method: 'POST',
        path: pathOf(id),
        body,
        ...(base && { headers: { 'If-Match': base.etag } }),
      })}
    >
      {!mayChange && <Note tone="info">{t.approvalRules.readOnly}</Note>}
      {!stored && (
        <Input
          mono
          required
          label={t.approvalRules.id}
          hint={t.approvalRules.idHint}
          value={id}
          fault={fieldErrorsOf(save.error).find(({ path }) => path === 'id')?.message}
          onValue={setId}
        />
      )}
      <ApprovalRuleForm
        draft={draft}
        onDraft={setDraft}
        isReadOnly={!mayChange}
        validation={validation}
        faults={fieldErrorsOf(save.error)}
      />
      {isConflict && (
        <Conflict
          id={id}
          read={() => readRule(id)}
          textOf={({ rule }) => asText(inputOf(draftOf(rule)))}
          mine={asText(body)}
          onTheirs={(theirs) => {
            setDraft(draftOf(theirs.rule))
            setBase(theirs)
            save.reset()
          }}
          onMine={(theirs) => {
            const mine = { ...draft, kept: draftOf(theirs.rule).kept }
            setDraft(mine)
            setBase(theirs)
            save.mutate({ version: theirs, edited: mine })
          }}
        />
      )}
    </DraftForm>
  )
}

const asText = (value: unknown): string => JSON.stringify(value, null, 2)

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

function ApprovalRuleForm(props: DraftFieldsProps<Draft>) {
  const { draft, isReadOnly = false, validation } = props
  const { set, faultOf, text, check, patterns } = fieldsOf(props)
  return (
    <Stack>
      <Input
        {...text('description')}
        label={t.policies.description}
        hint={t.approvalRules.descriptionHint}
      />
      <PatternFields {...patterns} fields={PATTERNS} />
      <ConditionField
        {...text('condition')}
        isReadOnly={isReadOnly}
        validation={validation}
        variables={RULE_VARIABLES}
      />
      <PatternFields
        {...patterns}
        fields={APPROVERS}
        hint={t.approvalRules.approversHint}
        faultOf={(name) =>
          faultOf(`approvers.${name}`) ?? (name === 'users' ? faultOf('approvers') : undefined)
        }
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
      <Checkbox {...check('enabled')} label={t.policies.enabled} />
      <ValidationNote validation={validation} />
    </Stack>
  )
}
