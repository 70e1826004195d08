import { useSearch } from '@tanstack/react-router'
import { useSession } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Card, Facts, TabPage } from '../../ui/layout.tsx'
import { Id } from '../../ui/values.tsx'
import { Keys } from './keys.tsx'
import { LoginPanel } from './login.tsx'
import { OrganizationPanel } from './organization.tsx'
import { People } from './people.tsx'
import { Sinks } from './sinks.tsx'
import { PlanAndUsage } from './usage.tsx'
import { Webhooks } from './webhooks.tsx'

const { tabs } = t.settings
const TABS = [
  {
    label: tabs.organization,
    value: 'organization',
    needs: 'GET /v1/organization',
    Panel: OrganizationPanel,
  },
  { label: tabs.keys, value: 'keys', needs: 'GET /v1/keys', Panel: Keys },
  { label: tabs.people, value: 'people', needs: 'GET /v1/people', Panel: People },
  { label: tabs.login, value: 'login', needs: 'GET /v1/login-provider', Panel: LoginPanel },
  { label: tabs.webhooks, value: 'webhooks', needs: 'GET /v1/webhooks', Panel: Webhooks },
  { label: tabs.sinks, value: 'sinks', needs: 'GET /v1/sinks', Panel: Sinks },
  { label: tabs.usage, value: 'usage', needs: 'GET /v1/usage', Panel: PlanAndUsage },
  { label: tabs.about, value: 'about', Panel: About },
]

export function Settings() {
  const { tab } = useSearch({ from: '/settings' })
  return <TabPage title={t.settings.title} tabs={TABS} current={tab} />
}

function About() {
  const { organization, principal, edition, evaluation, login } = useSession()
  const ways = [login.key && t.settings.about.loginKey, login.oidc?.label].filter(
    (way) => typeof way === 'string',
  )
  return (
    <Card title={t.settings.tabs.about}>
      <Facts
        rows={[
          [t.settings.about.organization, organization?.name],
          [t.settings.about.id, organization && <Id>{organization.id}</Id>],
          [t.settings.about.plan, organization?.plan],
          [t.settings.about.edition, edition],
          [t.settings.about.evaluation, evaluation ? t.common.yes : t.common.no],
          [t.settings.about.signedInAs, principal?.email ?? principal?.name ?? principal?.id],
          [t.settings.about.role, principal?.role],
          [t.settings.about.login, ways.join(', ')],
        ]}
      />
    </Card>
  )
}
