import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { organizationQuery } from '../../api/queries.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Note } from '../../ui/states.tsx'
import { SETTING_TEXTS } from '../settings/setting-texts.ts'

/** Says what a setting of the organization leaves open; nothing where it denies. */
export function OpenDefault({ name }: { name: 'default_effect' | 'unknown_agents' }) {
  const can = useCan()
  const query = useQuery({ ...organizationQuery, enabled: can('GET /v1/organization') })
  const value = query.data?.settings[name]
  const warning = value === undefined ? undefined : SETTING_TEXTS[name].warnings?.[value]
  if (warning === undefined) return null
  return (
    <Note tone="wait">
      {warning} <Link to="/settings">{t.nav.settings}</Link>
    </Note>
  )
}
