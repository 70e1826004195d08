import type { Budget } from '@remit/contract'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { t } from '../../texts.ts'
import { Table } from '../../ui/layout.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { SplitMeter } from '../../ui/tile.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal, Time } from '../../ui/values.tsx'
import { amountIn, inTree, matchText } from './budget-tree.ts'
import type { BudgetRow } from './budget-tree.ts'
import styles from './budgets.module.css'

export const budgetsQuery = queryOptions({
  ...listQuery('budgets', remit.listBudgets),
  refetchInterval: 15_000,
})

const COMPANY = {
  method: 'PUT',
  path: '/v1/budgets/company',
  body: { unit: 'usd', window: 'month', limit: 5000 },
}

/** All budgets as a tree, each with what is used, held, kept for its parts, and left. */
export function Budgets() {
  const query = useQuery(budgetsQuery)
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={t.budgets.empty} request={COMPANY}>
            {t.budgets.emptyText}
          </Empty>
        ) : (
          <BudgetTable budgets={inTree(data)} label={t.budgets.title} />
        )
      }
    </Loaded>
  )
}

export function BudgetTable({ budgets, label }: { budgets: readonly BudgetRow[]; label: string }) {
  return (
    <Table<BudgetRow>
      label={label}
      rows={budgets}
      rowKey={({ id }) => id}
      csv="budgets"
      columns={[
        { name: t.budgets.name, value: ({ id }) => id, cell: (row) => <Name budget={row} /> },
        {
          name: t.budgets.used,
          value: ({ usage }) => (usage ? usage.used + usage.held : null),
          cell: (row) => <Used budget={row} />,
        },
        { name: t.budgets.held, end: true, value: amountOf('held'), cell: amountCell('held') },
        { name: t.budgets.kept, end: true, value: amountOf('kept'), cell: amountCell('kept') },
        {
          name: t.budgets.left,
          end: true,
          value: amountOf('remaining'),
          cell: amountCell('remaining'),
        },
        {
          name: t.budgets.resets,
          value: ({ usage }) => usage?.resets_at ?? null,
          cell: ({ usage }) =>
            usage ? usage.resets_at ? <Time at={usage.resets_at} /> : t.budgets.never : '–',
        },
      ]}
    />
  )
}

type Amount = 'held' | 'kept' | 'remaining'

const amountOf =
  (name: Amount) =>
  ({ usage }: Budget): number | null =>
    usage?.[name] ?? null

const amountCell =
  (name: Amount) =>
  ({ unit, usage }: Budget) =>
    usage ? (usage[name] === 0 && name !== 'remaining' ? '–' : amountIn(unit, usage[name])) : '–'

function Name({ budget }: { budget: BudgetRow }) {
  const { id, description, depth, match, mode, enabled, reserved } = budget
  const matched = matchText(match)
  return (
    <div className={styles['name']} style={{ paddingInlineStart: `${depth * 1.25}rem` }}>
      <span>
        <Link to="/spend/budgets/$id" params={{ id }}>
          <Literal>{id}</Literal>
        </Link>{' '}
        {!enabled && <Badge>{t.budgets.off}</Badge>}
        {enabled && mode === 'observe' && <Badge tone="wait">{t.budgets.observed}</Badge>}
        {reserved && <Badge>{t.budgets.reserved}</Badge>}
      </span>
      {(description ?? matched) !== '' && (
        <Literal as="small" className={ui['muted']}>
          {description ?? matched}
        </Literal>
      )}
    </div>
  )
}

/** The usage of a limit: settled, held, and kept for parts. */
export function Used({ budget: { unit, limit, usage, per, window } }: { budget: Budget }) {
  const of = `${amountIn(unit, limit)} ${t.budgets.windows[window]}`
  if (!usage) return <>{`${of}, ${t.budgets.each(per ?? '')}`}</>
  const share = (amount: number) => (limit === 0 ? 0 : amount / limit)
  return (
    <>
      {t.spend.of(amountIn(unit, usage.used + usage.held), of)}
      <SplitMeter
        used={limit === 0 ? 1 : share(usage.used)}
        held={share(usage.held)}
        kept={share(usage.kept)}
      />
    </>
  )
}
