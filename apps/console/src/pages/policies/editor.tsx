import type { PolicyChange } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Input } from '../../ui/field.tsx'
import { Page, Stack } from '../../ui/layout.tsx'
import { Loaded, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Id, Literal } from '../../ui/values.tsx'
import { requestQuery } from '../approvals/queries.ts'
import { Conflict, isOutdated } from '../rules/conflict.tsx'
import { DraftForm } from '../rules/draft-form.tsx'
import { useValidation } from '../rules/use-validation.ts'
import { DeletePolicy } from './delete-policy.tsx'
import { draftOf, EMPTY, inputOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { allowLike } from './like-request.ts'
import { LikeNote } from './like-note.tsx'
import styles from './policies.module.css'
import { pathOf, policyQuery, readPolicy, validatePolicy } from './queries.ts'
import type { Stored } from './queries.ts'
import { ReplayPanel } from './replay-panel.tsx'
import { RuleForm } from './rule-form.tsx'
import { RuleHistory } from './rule-history.tsx'

/** One policy: form, condition, replay, history. The id `new` makes one. */
export function PolicyEditor() {
  const { id } = useParams({ from: '/policies/$id' })
  const { like } = useSearch({ from: '/policies/$id' })
  if (id !== 'new') return <Existing key={id} id={id} />
  return (
    <Page title={t.policies.new}>
      {like === undefined ? (
        <Editor key="new" id={null} stored={null} first={EMPTY} />
      ) : (
        <Like key={like} id={like} />
      )}
    </Page>
  )
}

/** A draft that a request for approval proposes. */
function Like({ id }: { id: string }) {
  const query = useQuery({ ...requestQuery(id), refetchOnWindowFocus: false })
  return (
    <Loaded query={query}>
      {(request) => (
        <Stack>
          <LikeNote request={request} />
          <Editor id={null} stored={null} first={allowLike(request)} />
        </Stack>
      )}
    </Loaded>
  )
}

function Existing({ id }: { id: string }) {
  const query = useQuery(policyQuery(id))
  const name = query.data?.policy.description ?? t.policies.edit(id)
  return (
    <Page
      title={<Literal>{name}</Literal>}
      lead={name === t.policies.edit(id) ? null : <Id>{id}</Id>}
    >
      <Stack>
        <Loaded query={query}>
          {(stored) => <Editor id={id} stored={stored} first={draftOf(stored.policy)} />}
        </Loaded>
        <RuleHistory id={id} />
      </Stack>
    </Page>
  )
}

interface EditorProps {
  readonly id: string | null
  readonly stored: Stored | null
  readonly first: Draft
}

function Editor({ id, stored, first }: EditorProps) {
  const can = useCan()
  const [draft, setDraft] = useState(first)
  /** The version that the draft began with: a newer one makes Save a conflict. */
  const [base, setBase] = useState(stored)
  const [replayed, setReplayed] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  const input = inputOf(draft)
  const text = JSON.stringify(input)
  const mayChange = can(id === null ? 'POST /v1/policies' : 'PUT /v1/policies/{policyID}')
  const validation = useValidation({
    name: 'policy',
    input: can('POST /v1/policies') && draft !== EMPTY ? input : null,
    ask: validatePolicy,
  })
  const save = useSave(id)
  const isReplayed = replayed === text
  const canReplay = can('POST /v1/compliance/policies/replay')
  const changeOf = (edited: Draft): PolicyChange => ({
    ...inputOf(edited),
    ...(reason.trim() !== '' && { change_reason: reason.trim() }),
  })
  const isConflict = isOutdated(save.error)
  const needsReason = canReplay && !isReplayed
  const isInvalid = validation.data?.valid === false

  const store = (version: Stored | null, edited = draft) =>
    save.mutate(
      { body: changeOf(edited), etag: version?.etag ?? null },
      { onSuccess: (next) => next && setBase(next) },
    )
  return (
    <div className={styles['editor']}>
      <DraftForm
        actions={id !== null && <DeletePolicy id={id} />}
        mayChange={mayChange}
        canSave={
          !save.isPending &&
          !isInvalid &&
          (!needsReason || reason.trim() !== '') &&
          input.actions.length > 0
        }
        save={id === null ? t.policies.create : t.policies.save}
        onSave={() => store(base)}
        error={isConflict ? null : save.error}
        request={() => requestOf(id, changeOf(draft), base?.etag)}
      >
        {!mayChange && <Note tone="info">{t.policies.readOnly}</Note>}
        <RuleForm
          draft={draft}
          onDraft={setDraft}
          isReadOnly={!mayChange}
          validation={validation}
          faults={fieldErrorsOf(save.error)}
        />
        {isConflict && id !== null && (
          <Conflict
            id={id}
            read={() => readPolicy(id)}
            textOf={(theirs) => asText(inputOf(draftOf(theirs.policy)))}
            mine={asText(input)}
            onTheirs={(theirs) => {
              setDraft(draftOf(theirs.policy))
              setBase(theirs)
              save.reset()
            }}
            onMine={(theirs) => {
              const mine = { ...draft, kept: draftOf(theirs.policy).kept }
              setDraft(mine)
              setBase(theirs)
              store(theirs, mine)
            }}
          />
        )}
        {mayChange && (
          <Input
            label={t.policies.changeReason}
            hint={needsReason ? t.policies.saveHint : t.policies.changeReasonHint}
            maxLength={500}
            value={reason}
            fault={fieldErrorsOf(save.error).find(({ path }) => path === 'change_reason')?.message}
            onValue={setReason}
          />
        )}
      </DraftForm>
      {canReplay && (
        <ReplayPanel
          input={input}
          id={id}
          isCurrent={isReplayed}
          isDisabled={isInvalid}
          onReplayed={setReplayed}
        />
      )}
    </div>
  )
}

const asText = (value: unknown): string => JSON.stringify(value, null, 2)

const requestOf = (id: string | null, body: PolicyChange, etag: string | undefined) => ({
  method: id === null ? 'POST' : 'PUT',
  path: id === null ? '/v1/policies' : pathOf(id),
  body,
  ...(etag !== undefined && { headers: { 'If-Match': etag } }),
})

function useSave(id: string | null) {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async ({ body, etag }: { body: PolicyChange; etag: string | null }) => {
      if (id === null) {
        const { id: created } = await remit.createPolicy({ body })
        await navigate({ to: '/policies/$id', params: { id: created } })
        return null
      }
      const headers = etag === null ? {} : { 'if-match': etag }
      await remit.replacePolicy({ params: { policyID: id }, body, headers })
      return client.query({ ...policyQuery(id), staleTime: 0 })
    },
    onSuccess: () => {
      announce(t.policies.saved)
      return client.invalidateQueries({ queryKey: ['policies'] })
    },
  })
}
