import type { Issuer } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { issuersQuery } from '../../api/lists.ts'
import { useActorText, useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Card, Facts, Page, Stack } from '../../ui/layout.tsx'
import { Loaded, Missing, Note } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Id, Literal, Time } from '../../ui/values.tsx'
import { DeleteRule, DraftForm, useDraft } from '../rules/editor.tsx'
import { issuerDrafts } from './draft.ts'
import type { Draft } from './draft.ts'
import { IssuerForm } from './form.tsx'

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
        <NewIssuer first={issuerDrafts.empty} />
      ) : (
        <Loaded query={query}>
          {({ data }) => {
            const stored = data.find((one) => one.id === shown)
            if (!stored) return <Missing />
            return id === 'new' ? (
              <NewIssuer key={shown} first={issuerDrafts.draftOf(stored)} />
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
  const navigate = useNavigate()
  const editor = useDraft({
    kind: 'issuers',
    drafts: issuerDrafts,
    first,
    mayChange: true,
    validate: (body, signal) => remit.trustIssuer({ query: { validate: 'true' }, body, signal }),
    store: (body) => remit.trustIssuer({ body }),
    onSaved: ({ id }) => navigate({ to: '/agents/issuers/$id', params: { id } }),
  })
  return (
    <DraftForm
      editor={editor}
      title={t.issuers.terms}
      className={ui['form']}
      isComplete={!editor.isNew}
      save={editor.isSaving ? t.issuers.fetching : t.policies.create}
      request={() => ({ method: 'POST', path: PATH, body: editor.input })}
    >
      <IssuerForm {...editor.fields} />
    </DraftForm>
  )
}

/** Terms never change: another issuer can begin with them. */
function StoredIssuer({ issuer }: { issuer: Issuer }) {
  const actorText = useActorText()
  const can = useCan()
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
              <DeleteRule
                kind="issuers"
                texts={t.issuers}
                path={`${PATH}/${id}`}
                onDelete={() => remit.removeIssuer({ params: { idpID: id } })}
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
            [t.agents.issuers.error, keys.error],
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
          <IssuerForm isReadOnly draft={issuerDrafts.draftOf(issuer)} onDraft={() => undefined} />
        </Stack>
      </Card>
    </Stack>
  )
}
