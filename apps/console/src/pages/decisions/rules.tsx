import type { Approval, ApprovalRule, Entry, Policy } from '@remit/contract'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Card, Stack, Table } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Id, Literal } from '../../ui/values.tsx'
import { rulesQuery } from '../approval-rules/queries.ts'
import { policiesQuery } from '../policies/queries.ts'
import type { Recorded } from './story.ts'
import { triedOf } from './tried.ts'
import type { Matched, RulesThen, Tried } from './tried.ts'

interface RulesProps {
  readonly decision: Entry
  readonly recorded: Recorded
  readonly approval: Approval | null
}

const MOST = 1_000
const NOTHING = { tried: [], others: 0 }

/** Rules that were deleted since the decision, as their entries record them. */
const deletedQuery = (at: string) =>
  queryOptions({
    queryKey: ['decisions', 'deleted rules', at],
    queryFn: async ({ signal }) => {
      const read = async (kind: string, name: string) => {
        const query = { kind, from: at, limit: MOST, order: 'asc' as const }
        const { data } = await remit.listEntries({ query, signal })
        return data.flatMap((entry) => entry.data?.[name] ?? [])
      }
      const [policies, approvalRules] = await Promise.all([
        read('policy.deleted', 'policy'),
        read('approval_rule.removed', 'approval_rule'),
      ])
      return { policies: policies as Policy[], approvalRules: approvalRules as ApprovalRule[] }
    },
  })

/** The rules of now and those that were deleted since; null while they are read or without the right to. */
function useRulesThen(at: string): RulesThen | null {
  const can = useCan()
  const isOn = can('GET /v1/policies') && can('GET /v1/approval-rules')
  const { data: policies } = useQuery({ ...policiesQuery, enabled: isOn })
  const { data: approvalRules } = useQuery({ ...rulesQuery, enabled: isOn })
  const { data: deleted } = useQuery({ ...deletedQuery(at), enabled: isOn })
  if (!policies || !approvalRules || !deleted) return null
  return {
    policies: [...policies.data, ...deleted.policies],
    approvalRules: [...approvalRules.data, ...deleted.approvalRules],
  }
}

/** Each rule that matched, with what it said, and each that named the agent and action and did not. */
export function Rules({ decision, recorded, approval }: RulesProps) {
  const { matched = [] } = recorded
  const then = useRulesThen(decision.recorded_at)
  const { tried, others } = then ? triedOf(decision, matched, then) : NOTHING
  const rows: readonly (Matched | Tried)[] = [...matched, ...tried]
  return (
    <Card title={t.decisions.rules}>
      <Stack>
        {rows.length === 0 ? (
          <p className={ui['muted']}>{t.decisions.noRules}</p>
        ) : (
          <Table<Matched | Tried>
            label={t.decisions.rules}
            rows={rows}
            rowKey={({ kind, id }) => `${kind} ${id}`}
            columns={[
              { name: t.decisions.kind, value: ({ kind }) => t.decisions.kinds[kind] ?? kind },
              { name: t.decisions.rule, cell: (rule) => <Name rule={rule} /> },
              {
                name: t.decisions.result,
                cell: (rule) =>
                  'outcome' in rule ? (
                    <span className={ui['muted']}>{t.decisions.outcomes[rule.outcome]}</span>
                  ) : (
                    <Result rule={rule} {...{ decision, recorded, approval }} />
                  ),
              },
            ]}
          />
        )}
        {then && (
          <p className={ui['hint']}>
            {tried.length > 0 && t.decisions.fromRecord} {t.decisions.others(others)}
          </p>
        )}
      </Stack>
    </Card>
  )
}

/** The policy as it is now; undefined while it is read or without the right to. */
function usePolicy({ kind, id }: Matched) {
  const can = useCan()
  const isPolicy = kind === 'policy' && can('GET /v1/policies')
  const { data } = useQuery({ ...policiesQuery, enabled: isPolicy })
  return data && (data.data.find((policy) => policy.id === id) ?? null)
}

function Name({ rule }: { rule: Matched | Tried }): ReactNode {
  const policy = usePolicy(rule)
  const { kind, id } = rule
  if (kind === 'policy')
    return (
      <Link to="/policies/$id" params={{ id }}>
        <Literal>{policy?.description ?? ('name' in rule && rule.name ? rule.name : id)}</Literal>
      </Link>
    )
  if (kind === 'approval_rule')
    return (
      <Link to="/policies/approval-rules/$id" params={{ id }}>
        <Id>{id}</Id>
      </Link>
    )
  if (kind === 'spend_limit')
    return (
      <Link to="/spend" search={{ agent: id }}>
        <Id>{id}</Id>
      </Link>
    )
  return <Id>{id}</Id>
}

function Result({ rule, decision, recorded, approval }: RulesProps & { rule: Matched }): ReactNode {
  const policy = usePolicy(rule)
  const said = decision.decision === 'deny' ? 'deny' : 'allow'
  if (rule.kind === 'agent' || rule.kind === 'permission') return <Badge tone={said}>{said}</Badge>
  if (rule.kind === 'policy') {
    if (policy === undefined) return '–'
    if (policy === null) return t.decisions.deleted
    const isSame = rule.revision === undefined || policy.revision === rule.revision
    return (
      <>
        <Badge tone={policy.effect}>{policy.effect}</Badge> {!isSame && t.decisions.changed}
      </>
    )
  }
  if (rule.kind === 'spend_limit') return spendText(recorded)
  const requirement = approval?.requirements.find(({ rule_id }) => rule_id === rule.id)
  if (!approval || !requirement) return '–'
  const have = approval.votes.filter((vote) => vote.decision === 'approve').length
  return `${t.approvals.statuses[approval.status]} · ${t.approvals.progress(
    Math.min(have, requirement.required),
    requirement.required,
  )}`
}

/** The spend including the request, by window. */
function spendText({ spend }: Recorded): string {
  const windows = [
    [spend?.daily, t.decisions.today],
    [spend?.monthly, t.decisions.thisMonth],
  ] as const
  const texts = windows.flatMap(([window, name]) =>
    window && window.limit_usd !== null
      ? [
          t.decisions.of(
            usd(window.spent_usd + (spend?.amount_usd ?? 0)),
            usd(window.limit_usd),
            name,
          ),
        ]
      : [],
  )
  return texts.join(' · ') || '–'
}
