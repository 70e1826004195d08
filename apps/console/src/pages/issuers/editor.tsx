import type { Issuer } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { useActorText, useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { ConfirmDelete } from '../../ui/confirm-delete.tsx'
import { Card, Facts, Page, Stack } from '../../ui/layout.tsx'
import { Loaded, Missing, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Id, Literal, Time } from '../../ui/values.tsx'
import { DraftForm } from '../rules/form.tsx'
import { useValidation } from '../rules/validation.ts'
import { draftOf, EMPTY, inputOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { IssuerForm } from './form.tsx'
import { issuersQuery, validateIssuer } from './queries.ts'

const PATH = '/v1/identity/idp'

/** One trusted issuer, or the form of a new one, which can begin with the terms of another. */
export function IssuerPage() {
  const { id } = useParams({ from: '/agents/issuers/$id' })
  const { copy } = useSearch({ from: '/agents/issuers/$id' })
  const shown = id === 'new' ? copy : id
  const query = useQuery({ ...issuersQuery, enabled: shown !== undefined })
  const name = query.data?.data.find((one) => one.id === id)?.issuer
  return (
    <Page
      title={id === 'new' ? t.issuers.create : <Literal>{name ?? t.issuers.title(id)}</Literal>}
      lead={name !== undefined && <Id>{id}</Id>}
    >
      {shown === undefined ? (
        <NewIssuer first={EMPTY} />
      ) : (
        <Loaded query={query}>
          {({ data }) => {
            const stored = data.find((one) => one.id === shown)
            if (!stored) return <Missing />
            return id === 'new' ? (
              <NewIssuer key={shown} first={draftOf(stored)} />
            ) : (
              <StoredIssuer issuer={stored} />
            )
          }}
        </Loaded>
      )}
    </Page>
  )
}

function NewIssuer({ first }: { first: Draft }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [draft, setDraft] = useState(first)
  const body = inputOf(draft)
  const validation = useValidation({
    name: 'issuer',
    input: draft === EMPTY ? null : body,
    ask: validateIssuer,
  })
  const create = useMutation({
    mutationFn: () => remit.trustIssuer({ body }),
    onSuccess: async ({ id }) => {
      announce(t.policies.saved)
      await client.invalidateQueries({ queryKey: ['issuers'] })
      await navigate({ to: '/agents/issuers/$id', params: { id } })
    },
  })
  return (
    <DraftForm
      mayChange
      title={t.issuers.terms}
      className={ui['form']}
      canSave={!create.isPending && draft !== EMPTY && validation.data?.valid !== false}
      save={create.isPending ? t.issuers.fetching : t.policies.create}
      onSave={() => create.mutate()}
      error={create.error}
      request={() => ({ method: 'POST', path: PATH, body })}
    >
      <IssuerForm
        draft={draft}
        onDraft={setDraft}
        validation={validation}
        faults={fieldErrorsOf(create.error)}
      />
    </DraftForm>
  )
}

/** Terms never change: another issuer can begin with them. */
function StoredIssuer({ issuer }: { issuer: Issuer }) {
  const actorText = useActorText()
  const can = useCan()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { id, keys } = issuer
  return (
    <Stack>
      <Card
        className={ui['form']}
        title={t.agents.issuers.keys}
        actions={
          <>
            {can('POST /v1/identity/idp') && (
              <Link
                to="/agents/issuers/$id"
                params={{ id: 'new' }}
                search={{ copy: id }}
                className={buttonClass()}
              >
                {t.issuers.copy}
              </Link>
            )}
            {can('DELETE /v1/identity/idp/{idpID}') && (
              <ConfirmDelete
                title={t.issuers.deleteTitle}
                text={t.issuers.deleteText}
                request={() => ({ method: 'DELETE', path: `${PATH}/${id}` })}
                onDelete={() => remit.removeIssuer({ params: { idpID: id } })}
                onDeleted={async () => {
                  await navigate({ to: '/agents', search: { tab: 'issuers' } })
                  await client.invalidateQueries({ queryKey: ['issuers'] })
                }}
              />
            )}
          </>
        }
      >
        <Facts
          rows={[
            [t.agents.issuers.keys, String(keys.count)],
            [
              t.agents.issuers.fetched,
              keys.fetched_at === null ? t.common.never : <Time at={keys.fetched_at} as="full" />,
            ],
            [t.agents.issuers.error, keys.error && <Literal>{keys.error}</Literal>],
            [t.common.created, <Time key="c" at={issuer.created_at} as="full" />],
            [
              t.common.createdBy,
              <Literal key="b">{actorText({ type: '', id: issuer.created_by }) ?? ''}</Literal>,
            ],
          ]}
        />
      </Card>
      <Card className={ui['form']} title={t.issuers.terms}>
        <Stack>
          <Note tone="info">{t.issuers.immutable}</Note>
          <IssuerForm isReadOnly draft={draftOf(issuer)} onDraft={() => undefined} faults={[]} />
        </Stack>
      </Card>
    </Stack>
  )
}
