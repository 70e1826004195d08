import { useSearch } from '@tanstack/react-router'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Page, TabLinks } from '../../ui/layout.tsx'
import { About } from './about.tsx'
import { Keys } from './keys.tsx'
import { LoginPanel } from './login.tsx'
import { OrganizationPanel } from './organization.tsx'
import { People } from './people.tsx'
import { Sinks } from './sinks.tsx'
import { PlanAndUsage } from './usage.tsx'
import { Webhooks } from './webhooks.tsx'

export function Settings() {
  const can = useCan()
  const tabs = [
    {
      label: t.settings.tabs.organization,
      value: 'organization',
      isShown: can('GET /v1/organization'),
    },
    { label: t.settings.tabs.keys, value: 'keys', isShown: can('GET /v1/keys') },
    { label: t.settings.tabs.people, value: 'people', isShown: can('GET /v1/people') },
    { label: t.settings.tabs.login, value: 'login', isShown: can('GET /v1/login-provider') },
    { label: t.settings.tabs.webhooks, value: 'webhooks', isShown: can('GET /v1/webhooks') },
    { label: t.settings.tabs.sinks, value: 'sinks', isShown: can('GET /v1/sinks') },
    { label: t.settings.tabs.usage, value: 'usage', isShown: can('GET /v1/usage') },
    { label: t.settings.tabs.about, value: 'about', isShown: true },
  ].filter(({ isShown }) => isShown)
  const search = useSearch({ from: '/settings' })
  const tab = tabs.find(({ value }) => value === search.tab)?.value ?? tabs[0]?.value ?? 'about'
  return (
    <Page
      title={t.settings.title}
      tabs={<TabLinks label={t.settings.title} tabs={tabs} current={tab} />}
    >
      {tab === 'organization' && <OrganizationPanel />}
      {tab === 'keys' && <Keys />}
      {tab === 'people' && <People />}
      {tab === 'login' && <LoginPanel />}
      {tab === 'webhooks' && <Webhooks />}
      {tab === 'sinks' && <Sinks />}
      {tab === 'usage' && <PlanAndUsage />}
      {tab === 'about' && <About />}
    </Page>
  )
}
