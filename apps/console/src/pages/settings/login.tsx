import type { LoginProvider, LoginProviderInput } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { isMissing, remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan, useSession } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { ActionForm, ConfirmDelete } from '../../ui/action.tsx'
import { Checkbox, Input, TextArea } from '../../ui/field.tsx'
import { Card, Facts } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Id } from '../../ui/values.tsx'
import { fieldsOf } from '../rules/validation.ts'
import { bodyOf, draftOf } from './login-draft.ts'

const PATH = '/v1/login-provider'

/** The identity provider of the organization. */
export function LoginPanel() {
  const query = useQuery({
    queryKey: ['login-provider'],
    // Null where the organization has none.
    queryFn: ({ signal }): Promise<LoginProvider | null> =>
      remit.getLoginProvider({ signal }).catch((error: unknown) => {
        if (isMissing(error)) return null
        throw error
      }),
  })
  return (
    <Loaded query={query}>
      {(stored) => <Form key={stored?.updated_at ?? ''} stored={stored} />}
    </Loaded>
  )
}

function Form({ stored }: { stored: LoginProvider | null }) {
  const can = useCan()
  const { organization } = useSession()
  const [draft, setDraft] = useState(() => draftOf(stored))
  const body = bodyOf(draft)
  const save = useMutation({
    mutationFn: () => remit.setLoginProvider({ body }),
    onSuccess: () => {
      announce(t.settings.login.saved)
      return refresh('login-provider')
    },
  })
  const { text, check } = fieldsOf({ draft, onDraft: setDraft, error: save.error })
  const { login: texts } = t.settings
  const input = (name: 'issuer' | 'clientId' | 'scopes' | 'roleClaim', path: string) => (
    <Input {...text(name, path)} mono label={texts[name]} hint={texts.hints[name]} />
  )
  return (
    <Card className={ui['form']} title={texts.title}>
      <ActionForm
        noValidate
        request={() => ({ method: 'PUT', path: PATH, body: shownBody(body) })}
        verb={can('PUT /v1/login-provider') ? texts.save : null}
        action={save}
        more={
          stored &&
          can('DELETE /v1/login-provider') && (
            <ConfirmDelete
              title={texts.removeTitle}
              text={texts.removeText}
              verb={texts.remove}
              label={texts.remove}
              request={() => ({ method: 'DELETE', path: PATH })}
              onDelete={() => remit.removeLoginProvider()}
              onDeleted={() => refresh('login-provider')}
            >
              <Id>{stored.issuer}</Id>
            </ConfirmDelete>
          )
        }
      >
        <p>{texts.about}</p>
        <Facts
          rows={[
            [
              texts.redirect,
              <code key="r">{`${location.origin}/console/callback/${organization?.id}`}</code>,
            ],
            [texts.record, <code key="t">{`remit-organization=${organization?.id}`}</code>],
            ...(stored?.domains ?? []).map(
              ({ domain, verified }) =>
                [
                  domain,
                  <Badge key={domain} tone={verified ? 'allow' : 'wait'}>
                    {verified ? texts.proven : texts.notProven}
                  </Badge>,
                ] as const,
            ),
          ]}
        />
        {input('issuer', 'issuer')}
        {input('clientId', 'client_id')}
        {!draft.isPublic && (
          <Input
            {...text('secret', 'client_secret')}
            mono
            type="password"
            autoComplete="new-password"
            label={texts.secret}
            hint={stored?.has_client_secret ? texts.secretKept : texts.secretHint}
          />
        )}
        <Checkbox {...check('isPublic')} label={texts.isPublic} />
        {input('scopes', 'scopes')}
        {input('roleClaim', 'role_claim')}
        <TextArea
          {...text('roles', 'role_map')}
          mono
          label={texts.roles}
          hint={texts.hints.roles}
        />
        <TextArea {...text('domains')} mono label={texts.domains} hint={texts.hints.domains} />
      </ActionForm>
    </Card>
  )
}

/** Commands end up in histories of shells. */
const shownBody = (body: LoginProviderInput): object => ({
  ...body,
  ...(typeof body.client_secret === 'string' && { client_secret: '…' }),
})
