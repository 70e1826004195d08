import type { Budget, BudgetHistory, BudgetInstance } from '@remit/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { remit } from '../../api/client.ts'
import { agentsQuery, pagesQuery } from '../../api/queries.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan } from '../../api/session.ts'
import { everyPage } from '../../format/csv.ts'
import { t } from '../../texts.ts'
import { ConfirmDelete } from '../../ui/action.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Card, Facts, Page, Row, Stack, TableOf } from '../../ui/layout.tsx'
import { CurlButton, Loaded } from '../../ui/states.tsx'
import { SplitMeter } from '../../ui/tile.tsx'
import ui from '../../ui/ui.module.css'
import { Literal, Time } from '../../ui/values.tsx'
import { BudgetForm } from './budget-form.tsx'
import { amountIn, inTree, matchText, mayCount } from './budget-tree.ts'
import { budgetsQuery, BudgetTable, Used } from './budgets.tsx'

/** One budget: what is used, by whom, its course, its parts, and the form that changes it. */
export function BudgetPage() {
  const { id } = useParams({ from: '/spend/budgets/$id' })
  if (id === 'new')
    return (
      <Page title={t.budgets.new}>
        <BudgetForm key="new" budget={null} />
      </Page>
    )
  return <Existing key={id} id={id} />
}

const pathOf = (id: string): string => `/v1/budgets/${encodeURIComponent(id)}`

function Existing({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['budgets', id],
    queryFn: ({ signal }) => remit.getBudget({ params: { id }, signal }),
  })
  return (
    <Page
      title={<Literal>{id}</Literal>}
      lead={
        <Link to="/spend" search={{ tab: 'budgets' } as never}>
          ← {t.budgets.back}
        </Link>
      }
      actions={<CurlButton request={pathOf(id)} />}
    >
      <Loaded query={query}>{(budget) => <Detail budget={budget} />}</Loaded>
    </Page>
  )
}

function Detail({ budget }: { budget: Budget }) {
  const { id, per, match } = budget
  const can = useCan()
  const all = useQuery(budgetsQuery)
  const parts = (all.data?.data ?? []).filter(({ parent_id: parent }) => parent === id)
  return (
    <Stack>
      <Card
        title={<Used budget={budget} />}
        actions={can('DELETE /v1/budgets/{id}') && <Remove id={id} />}
      >
        <Facts
          rows={[
            [t.budgets.description, <Literal key="d">{budget.description ?? '–'}</Literal>],
            [
              t.budgets.parent,
              budget.parent_id === null ? (
                t.budgets.root
              ) : (
                <Link key="p" to="/spend/budgets/$id" params={{ id: budget.parent_id }}>
                  <Literal>{budget.parent_id}</Literal>
                </Link>
              ),
            ],
            [t.budgets.match, <Literal key="m">{matchText(match) || '*'}</Literal>],
            ...(budget.usage
              ? [
                  [t.budgets.used, amountIn(budget.unit, budget.usage.used)] as const,
                  [t.budgets.held, amountIn(budget.unit, budget.usage.held)] as const,
                  [t.budgets.keptHint, amountIn(budget.unit, budget.usage.kept)] as const,
                  [t.budgets.left, amountIn(budget.unit, budget.usage.remaining)] as const,
                  [
                    t.budgets.resets,
                    budget.usage.resets_at === null ? (
                      t.budgets.never
                    ) : (
                      <Time key="r" at={budget.usage.resets_at} as="full" />
                    ),
                  ] as const,
                ]
              : []),
            [t.budgets.since, <Time key="s" at={budget.created_at} as="full" />],
          ]}
        />
      </Card>
      {parts.length > 0 && (
        <Card title={t.budgets.parts}>
          <BudgetTable budgets={inTree(parts)} label={t.budgets.parts} />
        </Card>
      )}
      {per === null ? <Course budget={budget} /> : <Instances budget={budget} per={per} />}
      {can('GET /v1/identity/agents') && <Agents budget={budget} />}
      <BudgetForm budget={budget} />
    </Stack>
  )
}

function Remove({ id }: { id: string }) {
  const navigate = useNavigate()
  return (
    <ConfirmDelete
      title={t.budgets.removeTitle}
      text={t.budgets.removeText}
      verb={t.budgets.remove}
      done={t.budgets.removed}
      request={() => ({ method: 'DELETE', path: pathOf(id) })}
      onDelete={() => remit.removeBudget({ params: { id } })}
      onDeleted={async () => {
        await navigate({ to: '/spend', search: { tab: 'budgets' } as never })
        await refresh('budgets')
      }}
    />
  )
}

/** The usage of each agent, user or label. */
function Instances({ budget, per }: { budget: Budget; per: string }) {
  const { id, unit, limit } = budget
  const read = (cursor: string | undefined, signal?: AbortSignal) =>
    remit.getBudgetUsage({
      params: { id },
      query: { limit: 100, cursor },
      ...(signal && { signal }),
    })
  const query = useInfiniteQuery(pagesQuery(['budgets', id, 'usage'], read))
  const title = t.budgets.instances(per)
  return (
    <Card title={title}>
      <TableOf<BudgetInstance>
        query={query}
        empty={t.budgets.noInstances}
        label={title}
        rowKey={({ value }) => value ?? ''}
        csv={`budget-${id}`}
        all={() => everyPage(read)}
        columns={[
          {
            name: t.budgets.value,
            value: ({ value }) => value,
            cell: ({ value }) => <Literal>{value ?? t.budgets.noValue}</Literal>,
          },
          {
            name: t.budgets.used,
            value: ({ used, held }) => used + held,
            cell: ({ used, held }) => (
              <>
                {t.spend.of(amountIn(unit, used + held), amountIn(unit, limit))}
                <SplitMeter
                  used={limit === 0 ? 1 : used / limit}
                  held={limit === 0 ? 0 : held / limit}
                  kept={0}
                />
              </>
            ),
          },
          {
            name: t.budgets.held,
            end: true,
            value: ({ held }) => held,
            cell: ({ held }) => (held === 0 ? '–' : amountIn(unit, held)),
          },
          {
            name: t.budgets.left,
            end: true,
            value: ({ remaining }) => remaining,
            cell: ({ remaining }) => amountIn(unit, remaining),
          },
        ]}
      />
    </Card>
  )
}

function Course({ budget: { id, unit } }: { budget: Budget }) {
  const query = useQuery({
    queryKey: ['budgets', id, 'history'],
    queryFn: ({ signal }) => remit.getBudgetHistory({ params: { id }, signal }),
  })
  return <Loaded query={query}>{(history) => <Drawn history={history} unit={unit} />}</Loaded>
}

function Drawn({ history: { data, limit }, unit }: { history: BudgetHistory; unit: string }) {
  const { times, series } = useMemo(
    () => ({
      times: data.map(({ at }) => Date.parse(at) / 1000),
      series: [
        {
          label: t.budgets.used,
          color: '--accent',
          values: data.map(({ used, held }) => used + held),
        },
        { label: t.budgets.limit, color: '--deny', values: data.map(() => limit) },
      ],
    }),
    [data, limit],
  )
  return (
    <Figure
      title={t.budgets.history}
      timeName={t.budgets.at}
      times={times}
      series={series}
      unit={(amount) => amountIn(unit, amount)}
    />
  )
}

/** The registered agents whose requests count, if the action and the resource match too. */
function Agents({ budget: { match } }: { budget: Budget }) {
  const query = useQuery(agentsQuery)
  return (
    <Loaded query={query}>
      {({ data }) => {
        const agents = data.filter((agent) => mayCount(match, agent))
        return (
          <Card title={t.budgets.whoCan}>
            {agents.length === 0 ? (
              <p className={ui['muted']}>{t.budgets.noAgents}</p>
            ) : (
              <Row>
                {agents.map(({ agent_id: id }) => (
                  <Link key={id} to="/agents/$id" params={{ id }}>
                    <Literal>{id}</Literal>
                  </Link>
                ))}
              </Row>
            )}
          </Card>
        )
      }}
    </Loaded>
  )
}
