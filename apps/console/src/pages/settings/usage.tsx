import type { Organization, Usage } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { organizationQuery } from '../../api/queries.ts'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Card, Facts, Stack, Table } from '../../ui/layout.tsx'
import { Loaded, Note } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'

const { usage: texts } = t.settings

/** The plan of the organization, its limits, and its use in this month. */
export function PlanAndUsage() {
  const organization = useQuery(organizationQuery)
  const usage = useQuery({
    queryKey: ['usage'],
    queryFn: ({ signal }) => remit.getUsage({ query: { from: monthStart() }, signal }),
  })
  return (
    <Stack>
      <Loaded query={organization}>
        {(one) => (
          <>
            <Plan organization={one} />
            <Decisions organization={one} />
          </>
        )}
      </Loaded>
      <Loaded query={usage}>{({ data }) => <Meters rows={data} />}</Loaded>
    </Stack>
  )
}

/** The start of this UTC month. */
function monthStart(): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString()
}

function Plan({ organization }: { organization: Organization }) {
  const { plan, limits, suspended_at } = organization
  const rows = Object.entries(limits ?? {}).map(
    ([name, value]) =>
      [texts.limits[name as keyof typeof texts.limits], count(value ?? 0)] as const,
  )
  return (
    <Card title={texts.plan}>
      <Stack>
        {suspended_at !== undefined && <Note tone="deny">{texts.suspended}</Note>}
        <Facts rows={[[texts.plan, plan], ...rows]} />
        {rows.length === 0 && <p className={ui['muted']}>{texts.noLimits}</p>}
      </Stack>
    </Card>
  )
}

function Decisions({ organization }: { organization: Organization }) {
  const { decisions_this_month: used = 0, limits, settings } = organization
  const limit = limits?.decisions_per_month
  return (
    <Card title={texts.decisions}>
      <Stack>
        {limit !== undefined && (
          <progress
            className={ui['progress']}
            aria-label={texts.decisions}
            max={limit}
            value={Math.min(used, limit)}
          />
        )}
        <Facts
          rows={[
            [texts.used, count(used)],
            [texts.limit, limit === undefined ? texts.none : count(limit)],
            [texts.share, limit !== undefined && `${Math.floor((used * 100) / limit)}%`],
          ]}
        />
        {limit !== undefined && (
          <p>{settings.at_monthly_limit === 'deny' ? texts.deny : texts.overage}</p>
        )}
      </Stack>
    </Card>
  )
}

/** Sums of the counted hours of this month. */
function Meters({ rows }: { rows: Usage['data'] }) {
  const sums = [...Map.groupBy(rows, ({ meter }) => meter)]
    // Agents of several hours cannot be added.
    .filter(([meter]) => meter !== 'active_agents')
    .map(([meter, hours]) => ({
      meter,
      quantity: hours.reduce((sum, { quantity }) => sum + quantity, 0),
    }))
  return (
    <Card title={texts.month}>
      <Table
        label={texts.month}
        rows={sums}
        rowKey={({ meter }) => meter}
        empty={texts.empty}
        csv="usage"
        columns={[
          { name: texts.meter, value: ({ meter }) => texts.meters[meter] },
          { name: texts.used, end: true, value: ({ quantity }) => quantity },
        ]}
      />
    </Card>
  )
}
