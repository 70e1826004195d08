import type { TrustPolicy } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldErrorsOf, messageOf, remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { ConfirmDelete } from '../../ui/confirm-delete.tsx'
import { Page, Grid, Stack } from '../../ui/layout.tsx'
import { Loaded, Missing, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Literal } from '../../ui/values.tsx'
import { DraftForm, ConditionField, PatternFields, ValidationNote } from '../rules/form.tsx'
import { useValidation, fieldsOf } from '../rules/validation.ts'
import type { DraftFieldsProps } from '../rules/validation.ts'
import { draftOf, EMPTY, inputOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { trustQuery, validateTrust } from './queries.ts'
import { TRUST_VARIABLES } from '../../editor/condition-editor.tsx'
import { Checkbox, Input, Select, UtcInput } from '../../ui/field.tsx'

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
  const client = useQueryClient()
  const navigate = useNavigate()
  const [draft, setDraft] = useState(stored ? draftOf(stored) : EMPTY)
  const body = inputOf(draft)
  const mayChange = can('POST /v1/identity/trust')
  const mayDelete = can('DELETE /v1/identity/trust/{policyID}')
  const validation = useValidation({
    name: 'trust',
    input: mayChange && draft !== EMPTY ? body : null,
    ask: validateTrust,
  })
  const leave = async () => {
    await client.invalidateQueries({ queryKey: ['trust'] })
    await navigate({ to: '/agents', search: { tab: 'trust' } })
  }
  const save = useMutation({
    mutationFn: () => replace(stored, body),
    onSuccess: async (leftover) => {
      announce(t.policies.saved, leftover ?? undefined)
      await leave()
    },
  })
  return (
    <DraftForm
      className={ui['form']}
      actions={
        stored &&
        mayDelete && (
          <ConfirmDelete
            title={t.agents.trust.deleteTitle}
            text={t.agents.trust.deleteText}
            request={() => ({ method: 'DELETE', path: `${PATH}/${stored.id}` })}
            onDelete={() => remit.deleteTrustPolicy({ params: { policyID: stored.id } })}
            onDeleted={leave}
          />
        )
      }
      mayChange={mayChange}
      canSave={
        !save.isPending &&
        validation.data?.valid !== false &&
        [body.source_agents, body.target_agents, body.actions].every((list) => list?.length !== 0)
      }
      save={stored ? t.policies.save : t.policies.create}
      onSave={() => save.mutate()}
      error={save.error}
      request={() => ({ method: 'POST', path: PATH, body })}
    >
      {stored && mayChange && (
        <Note tone="info">
          <span>
            {t.agents.trust.replaceNote} <Literal>{stored.id}</Literal>
          </span>
        </Note>
      )}
      <TrustForm
        draft={draft}
        onDraft={setDraft}
        isReadOnly={!mayChange}
        validation={validation}
        faults={fieldErrorsOf(save.error)}
      />
    </DraftForm>
  )
}

/**
 * Trust policies are never changed: the new one is created, then the old one deleted. Between the two,
 * both decide, and deny wins. Returns why the old one is left over, or null.
 */
async function replace(
  old: TrustPolicy | null,
  body: ReturnType<typeof inputOf>,
): Promise<string | null> {
  await remit.createTrustPolicy({ body })
  if (!old) return null
  return remit.deleteTrustPolicy({ params: { policyID: old.id } }).then(
    () => null,
    (error: unknown) => t.agents.trust.leftover(old.id, messageOf(error)),
  )
}

const EFFECTS = [
  ['allow', 'allow'],
  ['deny', 'deny'],
] as const
const PATTERNS = [
  ['source_agents', t.agents.trust.source],
  ['target_agents', t.agents.trust.target],
  ['actions', t.agents.trust.actions],
] as const

function TrustForm(props: DraftFieldsProps<Draft>) {
  const { isReadOnly = false, validation } = props
  const { text, choice, check, patterns } = fieldsOf(props)
  return (
    <Stack>
      <Grid>
        <Input {...text('description')} label={t.agents.trust.description} />
        <Select {...choice('effect')} label={t.agents.trust.effect} options={EFFECTS} />
      </Grid>
      <PatternFields {...patterns} fields={PATTERNS} hint={t.agents.trust.selectorsHint} />
      <ConditionField
        {...text('condition')}
        isReadOnly={isReadOnly}
        validation={validation}
        variables={TRUST_VARIABLES}
      />
      <Grid>
        <UtcInput {...text('expires_at')} label={t.policies.ends} />
      </Grid>
      <Checkbox {...check('enabled')} label={t.policies.enabled} />
      <ValidationNote validation={validation} />
    </Stack>
  )
}
