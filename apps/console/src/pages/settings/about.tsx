import { useSession } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Card, Facts } from '../../ui/layout.tsx'
import { Id } from '../../ui/values.tsx'

export function About() {
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
