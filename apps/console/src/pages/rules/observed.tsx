import type { ObservedRule } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { weekStats } from '../../api/stats.ts'
import { useCan } from '../../api/session.ts'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Card, Stack } from '../../ui/layout.tsx'
import { Loaded, Note } from '../../ui/states.tsx'

const INCOMPLETE = '*:incomplete'
/** The rules that the server counts together, beyond the most frequent ones. */
const OTHERS = '*'

/** How often a rule in the mode `observe` would have decided something, in the last 7 days. */
export function ObservedCard({ kind, id }: Pick<ObservedRule, 'kind' | 'id'>) {
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
                </Stack>
              )
            }}
          </Loaded>
        )}
      </Loaded>
    </Card>
  )
}

const wouldIn = (key: string) => key.slice(key.lastIndexOf(':') + 1) as ObservedRule['would']
