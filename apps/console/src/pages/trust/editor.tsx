import type { TrustPolicy, TrustPolicyInput } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { messageOf, remit } from '../../api/client.ts'
import { trustQuery } from '../../api/queries.ts'
import { useCan } from '../../api/session.ts'
import { TRUST_VARIABLES } from '../../editor/condition-editor.tsx'
import { t } from '../../texts.ts'
import { Checkbox, Input, Select, UtcInput } from '../../ui/field.tsx'
import { Page, Grid, Stack } from '../../ui/layout.tsx'
import { Loaded, Missing, Note } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Literal } from '../../ui/values.tsx'
import { DeleteRule, DraftForm, useDraft, useLeave } from '../rules/editor.tsx'
import { ConditionField, PatternFields, ValidationNote } from '../rules/form.tsx'
import { fieldsOf, withCondition } from '../rules/validation.ts'
import type { DraftFieldsProps } from '../rules/validation.ts'
import { trustDrafts } from './draft.ts'
import type { Draft } from './draft.ts'

const PATH = '/v1/identity/trust'

/** One trust policy. The id `new` makes one. */
export function TrustEditor() {
  const { id } = useParams({ from: '/agents/trust/$id' })
  const query = useQuery({ ...trustQuery, enabled: id !== 'new' })
  const name = query.data?.data.find((one) => one.id === id)?.description
  if (id === 'new')
    return (
      <Page title={t.agents.trust.create}>
        <Editor stored={null} />
      </Page>
    )
  return (
    <Page title={<Literal>{name ?? t.agents.trust.edit(id)}</Literal>}>
      <Loaded query={query}>
        {({ data }) => {
          const stored = data.find((one) => one.id === id)
          if (!stored) return <Missing />
          return <Editor key={id} stored={stored} />
        }}
      </Loaded>
    </Page>
  )
}

function Editor({ stored }: { stored: TrustPolicy | null }) {
  const can = useCan()
  const leave = useLeave('trust')
  const mayChange = can('POST /v1/identity/trust')
  const editor = useDraft({
    kind: 'trust',
    drafts: trustDrafts,
    first: stored ? trustDrafts.draftOf(stored) : trustDrafts.empty,
    mayChange,
    validate: (input, signal) =>
      withCondition(input, (body) =>
        remit.createTrustPolicy({ query: { validate: 'true' }, body, signal }),
      ),
    store: (body) => replace(stored, body),
    onSaved: leave,
  })
  const { source_agents: from, target_agents: to, actions } = editor.input
  return (
    <DraftForm
      editor={editor}
      className={ui['form']}
      actions={
        stored &&
        can('DELETE /v1/identity/trust/{policyID}') && (
          <DeleteRule
            kind="trust"
            texts={t.agents.trust}
            path={`${PATH}/${stored.id}`}
            onDelete={() => remit.deleteTrustPolicy({ params: { policyID: stored.id } })}
          />
        )
      }
      isComplete={[from, to, actions].every((list) => list.length > 0)}
      save={stored ? t.policies.save : t.policies.create}
      request={() => ({ method: 'POST', path: PATH, body: editor.input })}
    >
      {stored && mayChange && (
        <Note tone="info">
          <span>
            {t.agents.trust.replaceNote} <Literal>{stored.id}</Literal>
          </span>
        </Note>
      )}
      <TrustForm {...editor.fields} />
    </DraftForm>
  )
}

/**
 * Trust policies are never changed: the new one is created, then the old one deleted. Between the two,
 * both decide, and deny wins. Returns why the old one is left over, or null.
 */
async function replace(old: TrustPolicy | null, body: TrustPolicyInput): Promise<string | null> {
  await remit.createTrustPolicy({ body })
  if (!old) return null
  return remit.deleteTrustPolicy({ params: { policyID: old.id } }).then(
    () => null,
    (error: unknown) => t.agents.trust.leftover(old.id, messageOf(error)),
  )
}

const EFFECTS = ['allow', 'deny'] as const
const PATTERNS = [
  ['source_agents', t.agents.trust.source],
  ['target_agents', t.agents.trust.target],
  ['actions', t.agents.trust.actions],
] as const

function TrustForm(props: DraftFieldsProps<Draft>) {
  const { text, choice, check, condition, patterns } = fieldsOf(props)
  return (
    <Stack>
      <Grid>
        <Input {...text('description')} label={t.agents.trust.description} />
        <Select {...choice('effect')} label={t.agents.trust.effect} options={EFFECTS} />
      </Grid>
      <PatternFields {...patterns} fields={PATTERNS} hint={t.agents.trust.selectorsHint} />
      <ConditionField {...condition('condition')} variables={TRUST_VARIABLES} />
      <Grid>
        <UtcInput {...text('expires_at')} label={t.policies.ends} />
      </Grid>
      <Checkbox {...check('enabled')} label={t.policies.enabled} />
      <ValidationNote validation={props.validation} />
    </Stack>
  )
}
