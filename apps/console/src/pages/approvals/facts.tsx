import { useQuery } from '@tanstack/react-query'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Facts, Table } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { Literal } from '../../ui/values.tsx'
import { amountOf, differencesOf } from './difference.ts'
import { lastApprovedQuery, spendQuery } from './queries.ts'
import type { Request } from './queries.ts'

/** The differences from the request that was approved last under the same rule. */
export function EarlierRequest({ request }: { request: Request }) {
  const { data: earlier } = useQuery(lastApprovedQuery(request))
  if (earlier === undefined) return null
  const rows = earlier ? differencesOf(earlier, request) : []
  return (
    <div>
      <h3>{t.approvals.difference}</h3>
      {!earlier && <p className={ui['muted']}>{t.approvals.noEarlier}</p>}
      {earlier && rows.length === 0 && <p className={ui['muted']}>{t.approvals.sameAsLast}</p>}
      {rows.length > 0 && (
        <Table
          label={t.approvals.difference}
          rows={rows}
          rowKey={({ path }) => path}
          columns={[
            { name: t.approvals.field, cell: ({ path }) => <Literal>{path}</Literal> },
            { name: t.approvals.was, cell: ({ was }) => <Literal>{was ?? '–'}</Literal> },
            { name: t.approvals.now, cell: ({ now }) => <Literal>{now ?? '–'}</Literal> },
          ]}
        />
      )}
    </div>
  )
}

/** Spend before and after the request, where the agent has a limit. */
export function SpendOfAgent({ request }: { request: Request }) {
  const { data: limit } = useQuery(spendQuery(request.agent_id))
  const amount = amountOf(request) ?? 0
  if (!limit) return null
  const { spent, daily_usd, monthly_usd } = limit
  const line = ({ usd: settled, held_usd }: typeof spent.day, cap: number | null) =>
    cap === null
      ? null
      : t.approvals.spendLine(usd(settled + held_usd), usd(settled + held_usd + amount), usd(cap))
  return (
    <div>
      <h3>{t.approvals.spend}</h3>
      <Facts
        rows={[
          [t.approvals.spendDay, line(spent.day, daily_usd)],
          [t.approvals.spendMonth, line(spent.month, monthly_usd)],
        ]}
      />
    </div>
  )
}
