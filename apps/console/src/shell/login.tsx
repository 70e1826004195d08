import { RemitError } from '@remit/contract/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api/client.ts'
import { sessionQuery, signInWithKey, useSession } from '../api/session.ts'
import icon from '../icon.svg'
import { t } from '../texts.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Input } from '../ui/field.tsx'
import { Code, Note } from '../ui/states.tsx'
import { asksAgain } from './ask-again.ts'
import styles from './shell.module.css'

/** Shown in the place of any page without a session; the address stays. */
export function Login() {
  const { login } = useSession()
  const query = new URLSearchParams({
    next: location.pathname + location.search,
    ...(asksAgain() && { prompt: 'login' }),
  })
  return (
    <main className={styles['signIn']}>
      <div className={styles['signInCard']}>
        <img src={icon} alt="" />
        <h1>{t.login.title}</h1>
        {login.oidc && (
          <a
            data-wide
            className={buttonClass('primary')}
            href={`/console/login?${query.toString()}`}
          >
            {t.login.with(login.oidc.label)}
          </a>
        )}
        {login.organizations && (
          <OrganizationForm given={query} isOnly={!login.oidc && !login.key} />
        )}
        {(login.oidc ?? login.organizations) && login.key && (
          <div className={styles['or']}>{t.login.or}</div>
        )}
        {login.key && <KeyForm />}
        {!login.key && !login.oidc && !login.organizations && (
          <Note tone="wait">{t.login.noMethod}</Note>
        )}
      </div>
    </main>
  )
}

function OrganizationForm({ given, isOnly }: { given: URLSearchParams; isOnly: boolean }) {
  const [organization, setOrganization] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const query = new URLSearchParams([...given, ['organization', organization.trim()]])
        // `form-action` of the policy also holds for the redirect to the provider.
        location.assign(`/console/login?${query.toString()}`)
      }}
    >
      <Input
        label={t.login.organization}
        hint={t.login.organizationHint}
        required
        autoFocus={isOnly}
        value={organization}
        onValue={setOrganization}
      />
      <Button data-wide tone={isOnly ? 'primary' : undefined} type="submit">
        {t.login.continue}
      </Button>
    </form>
  )
}

function KeyForm() {
  const [key, setKey] = useState('')
  const client = useQueryClient()
  const signIn = useMutation({
    mutationFn: () => signInWithKey(key.trim()),
    onSuccess: async () => {
      setKey('')
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
    },
  })
  const { error } = signIn
  const isRefused = error instanceof RemitError && error.status === 401
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          signIn.mutate()
        }}
      >
        <Input
          label={t.login.key}
          type="password"
          mono
          autoFocus
          required
          placeholder={t.login.keyPlaceholder}
          value={key}
          onValue={setKey}
          hint={t.login.keyHint}
          fault={error ? (isRefused ? t.login.refused : messageOf(error)) : undefined}
        />
        <Button data-wide tone="primary" type="submit" disabled={signIn.isPending}>
          {t.login.signIn}
        </Button>
      </form>
      <p>{t.login.findKey}</p>
      <Code label={t.common.command}>remit key create --role admin</Code>
    </>
  )
}
