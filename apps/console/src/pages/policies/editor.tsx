import { RemitError } from '@remit/contract/client'
import type { PolicyInput } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldErrorsOf, remit, send } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { Card, Page, Row, Stack } from '../../ui/layout.tsx'
import { CurlButton, Failure, Loaded, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { DeletePolicy } from './delete-policy.tsx'
import { draftOf, EMPTY, inputOf } from './draft.ts'
import type { Draft } from './draft.ts'
import styles from './policies.module.css'
import { pathOf, policyQuery } from './queries.ts'
import type { Stored } from './queries.ts'
import { ReplayPanel } from './replay-panel.tsx'
import { RuleForm } from './rule-form.tsx'
import { RuleHistory } from './rule-history.tsx'
import { useValidation } from './use-validation.ts'

/** One policy: form, condition, replay, history. The id `new` makes one. */
export function PolicyEditor() {
  const { id } = useParams({ from: '/policies/$id' })
  if (id === 'new')
    return (
      <Page title={t.policies.new}>
        <Editor key="new" id={null} stored={null} />
      </Page>
    )
  return (
    <Page title={t.policies.edit(id)}>
      <Existing key={id} id={id} />
    </Page>
  )
}

function Existing({ id }: { id: string }) {
  const can = useCan()
  const query = useQuery(policyQuery(id, can('GET /v1/policies/{policyID}')))
  return (
    <Loaded query={query}>
      {(stored) => (
        <Stack>
          {stored ? (
            <Editor id={id} stored={stored} />
          ) : (
            <Note tone="wait">{t.common.notFoundText}</Note>
          )}
          <RuleHistory id={id} />
        </Stack>
      )}
    </Loaded>
  )
}

interface EditorProps {
  readonly id: string | null
  readonly stored: Stored | null
}

function Editor({ id, stored }: EditorProps) {
  const can = useCan()
  const [draft, setDraft] = useState<Draft>(stored ? draftOf(stored.policy) : EMPTY)
  /** The version that the draft began with: a newer one makes Save a conflict. */
  const [base, setBase] = useState(stored)
  const [replayed, setReplayed] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  const input = inputOf(draft)
  const text = JSON.stringify(input)
  const canReplace = can('PUT /v1/policies/{policyID}')
  const mayChange = id === null ? can('POST /v1/policies') : canReplace
  const validation = useValidation(input, canReplace && mayChange)
  const save = useSave(id)
  const isReplayed = replayed === text
  const canReplay = can('POST /v1/compliance/policies/replay')
  const body = {
    ...input,
    ...(canReplace && reason.trim() !== '' && { change_reason: reason.trim() }),
  }
  const isConflict = save.error instanceof RemitError && save.error.status === 412
  const needsReason = canReplay && !isReplayed && canReplace
  const isInvalid = validation.data?.valid === false

  const store = (etag: string | null | undefined) =>
    save.mutate({ body, etag: etag ?? null }, { onSuccess: (next) => next && setBase(next) })
  return (
    <div className={styles['editor']}>
      <Card title={t.policies.form} actions={id !== null && <DeletePolicy id={id} />}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            store(base?.etag)
          }}
        >
          <Stack>
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
                onTheirs={(theirs) => {
                  setDraft(draftOf(theirs.policy))
                  setBase(theirs)
                  save.reset()
                }}
                onMine={(theirs) => {
                  setBase(theirs)
                  store(theirs.etag)
                }}
              />
            )}
            {save.error && !isConflict && <Failure error={save.error} />}
            {needsReason && mayChange && (
              <Input
                label={t.policies.changeReason}
                hint={t.policies.saveHint}
                maxLength={500}
                value={reason}
                onValue={setReason}
              />
            )}
            {mayChange && (
              <Row>
                <Button
                  type="submit"
                  tone="primary"
                  disabled={
                    save.isPending ||
                    isInvalid ||
                    (needsReason && reason.trim() === '') ||
                    input.actions.length === 0
                  }
                >
                  {id === null ? t.policies.create : t.policies.save}
                </Button>
                <CurlButton request={() => requestOf(id, body, base?.etag)} />
              </Row>
            )}
          </Stack>
        </form>
      </Card>
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

const requestOf = (id: string | null, body: unknown, etag: string | null | undefined) => ({
  method: id === null ? 'POST' : 'PUT',
  path: id === null ? '/v1/policies' : pathOf(id),
  body,
  ...(etag && { headers: { 'If-Match': etag } }),
})

function useSave(id: string | null) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const can = useCan()
  return useMutation({
    mutationFn: async ({ body, etag }: { body: PolicyInput; etag: string | null }) => {
      if (id !== null) {
        await send('PUT', pathOf(id), { body, ...(etag && { headers: { 'if-match': etag } }) })
        const own = policyQuery(id, can('GET /v1/policies/{policyID}'))
        return client.query({ ...own, staleTime: 0 })
      }
      const { id: created } = await remit.createPolicy({ body })
      await navigate({ to: '/policies/$id', params: { id: created } })
      return null
    },
    onSuccess: () => {
      announce(t.policies.saved)
      return client.invalidateQueries({ queryKey: ['policies'] })
    },
  })
}

interface ConflictProps {
  readonly id: string
  readonly onTheirs: (theirs: Stored) => void
  readonly onMine: (theirs: Stored) => void
}

/** Somebody else was faster: the typed text stays until its author decides. */
function Conflict({ id, onTheirs, onMine }: ConflictProps) {
  const client = useQueryClient()
  const withNewest = (use: (theirs: Stored) => void) => async () => {
    const theirs = await client.query({ ...policyQuery(id, true), staleTime: 0 })
    if (theirs) use(theirs)
  }
  return (
    <Note tone="wait">
      <span role="alert">{t.policies.conflict}</span>
      <Row>
        <Button onClick={() => void withNewest(onTheirs)()}>{t.policies.showTheirs}</Button>
        <Button onClick={() => void withNewest(onMine)()}>{t.policies.keepMine}</Button>
      </Row>
    </Note>
  )
}
