import type { Entry, ObservedRule } from '@remit/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { entriesQuery } from '../../api/queries.ts'
import { HOUR_MS, period, weekStats } from '../../api/stats.ts'
import { useCan } from '../../api/session.ts'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Row, Stack, TableOf } from '../../ui/layout.tsx'
import { Loaded, Note } from '../../ui/states.tsx'
import { DECISION_COLUMN, REQUEST_COLUMNS, TIME_COLUMN } from '../ledger/columns.tsx'

const INCOMPLETE = '*:incomplete'
/** The rules that the server counts together, beyond the most frequent ones. */
const OTHERS = '*'

type RuleId = Pick<ObservedRule, 'kind' | 'id'>

/** How often a rule in the mode `observe` would have decided something, in the last 7 days. */
export function ObservedCard({ kind, id }: RuleId) {
  const isOn = useCan()('GET /v1/stats')
  const observed = useQuery(weekStats('observed', isOn))
  const decisions = useQuery(weekStats('decision', isOn))
  if (!isOn) return null
  return (
    <Card title={t.policies.observedTitle}>
      <Loaded query={observed}>
        {(counts) => (
          <Loaded query={decisions}>
            {(all) => {
              const total = count([...all.values()].reduce((sum, n) => sum + n, 0))
              const own = [...counts].filter(([key]) => key.startsWith(`${kind}:${id}:`))
              const incomplete = counts.get(INCOMPLETE)
              return (
                <Stack>
                  {own.length === 0 && (
                    <p>
                      {counts.has(OTHERS) ? t.policies.tooMany : t.policies.wouldNothing(total)}
                    </p>
                  )}
                  {own.map(([key, n]) => (
                    <p key={key}>{t.policies.would[wouldIn(key)](count(n), total)}</p>
                  ))}
                  {incomplete !== undefined && (
                    <Note tone="wait">{t.policies.observedIncomplete(count(incomplete))}</Note>
                  )}
                  {own.length > 0 && <ObservedDecisions kind={kind} id={id} />}
                </Stack>
              )
            }}
          </Loaded>
        )}
      </Loaded>
    </Card>
  )
}

/** The decisions in which the rule would have decided something, newest first. */
function ObservedDecisions(rule: RuleId) {
  const [isOpen, setOpen] = useState(false)
  const isAllowed = useCan()('GET /v1/ledger')
  if (!isAllowed) return null
  if (isOpen) return <DecisionsTable {...rule} />
  return (
    <Row>
      <Button onClick={() => setOpen(true)}>{t.policies.observedShow}</Button>
    </Row>
  )
}

function DecisionsTable({ kind, id }: RuleId) {
  const wouldOf = ({ data }: Entry) =>
    (data?.['observed'] as readonly ObservedRule[] | undefined)?.find(
      (rule) => rule.kind === kind && rule.id === id,
    )?.would
  const query = useInfiniteQuery(
    entriesQuery(
      ['observed', kind, id],
      { kind: 'authorization.decided', from: period(7, HOUR_MS).from },
      (entry) => wouldOf(entry) !== undefined,
    ),
  )
  return (
    <TableOf<Entry>
      query={query}
      label={t.policies.observedDecisions}
      rowKey={({ seq }) => String(seq)}
      empty={t.policies.observedNoneYet}
      csv={`observed-${id}`}
      columns={[
        TIME_COLUMN,
        DECISION_COLUMN,
        { name: t.policies.observedWould, value: wouldOf },
        ...REQUEST_COLUMNS,
      ]}
    />
  )
}

const wouldIn = (key: string) => key.slice(key.lastIndexOf(':') + 1) as ObservedRule['would']
