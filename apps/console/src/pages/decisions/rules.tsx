import type { Approval } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useCan } from '../../api/session.ts'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Card, Table } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Id, Literal } from '../../ui/values.tsx'
import { policiesQuery } from '../policies/queries.ts'
import type { Matched, Recorded } from './story.ts'

interface RulesProps {
  readonly recorded: Recorded
  readonly approval: Approval | null
}

/** Each rule that took part, with what it said. */
export function Rules({ recorded, approval }: RulesProps) {
  const { matched = [] } = recorded
  return (
    <Card title={t.decisions.rules}>
      {matched.length === 0 ? (
        <p className={ui['muted']}>{t.decisions.noRules}</p>
      ) : (
        <Table<Matched>
          label={t.decisions.rules}
          rows={matched}
          rowKey={({ kind, id }) => `${kind} ${id}`}
          columns={[
            { name: t.decisions.kind, value: ({ kind }) => t.decisions.kinds[kind] ?? kind },
            { name: t.decisions.rule, cell: (rule) => <Name rule={rule} /> },
            {
              name: t.decisions.result,
              cell: (rule) => <Result rule={rule} recorded={recorded} approval={approval} />,
            },
          ]}
        />
      )}
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

function Name({ rule }: { rule: Matched }): ReactNode {
  const policy = usePolicy(rule)
  const { kind, id } = rule
  if (kind === 'policy')
    return (
      <Link to="/policies/$id" params={{ id }}>
        <Literal>{policy?.description ?? id}</Literal>
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

function Result({ rule, recorded, approval }: RulesProps & { rule: Matched }): ReactNode {
  const policy = usePolicy(rule)
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
  const have = approval.votes.filter(({ decision }) => decision === 'approve').length
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
