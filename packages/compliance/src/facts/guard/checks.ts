import { Cases } from '../cases.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { isAtMostPercent, percentText, ratioOf } from '../ratio.ts'
import { numberIn, recordsIn, textIn } from '../recorded-json.ts'
import { isRelaxed } from '../thresholds.ts'

const VERDICTS = ['allow', 'redact', 'block'] as const

/**
 * M45: guard checks, and the share of deciding agents that were checked. A plain allow has no entry
 * of its own; `guard.counted` entries contain the sums.
 */
export const guardMeter: CreateMeter = ({ question, seqsOf }) => {
  const { guarded_percent: percent } = question.thresholds
  const unchecked = seqsOf('GRD-1')
  const byVerdict: Record<string, number> = Object.fromEntries(VERDICTS.map((one) => [one, 0]))
  const checked = new Set<string>()
  /** Agents and their first decision. */
  const deciding = new Map<string, number>()
  const checks = new Cases()

  function add(time: number, verdict: string | null, count: number): void {
    if (count > 0) checks.add(time, count)
    if (verdict !== null && Object.hasOwn(byVerdict, verdict))
      byVerdict[verdict] = (byVerdict[verdict] ?? 0) + count
  }

  return {
    reads: ['guard.checked', 'guard.counted', 'authorization.decided'],
    entry(entry) {
      if (entry.erased) return
      const { kind, seq, time, agent_id } = entry
      if (kind === 'authorization.decided') {
        if (agent_id !== null && !deciding.has(agent_id)) deciding.set(agent_id, seq)
      } else if (kind === 'guard.checked') {
        add(time, textIn(entry.data, 'action'), 1)
        if (agent_id !== null) checked.add(agent_id)
      } else {
        add(time, 'allow', numberIn(entry.data, 'checks') ?? 0)
        for (const one of recordsIn(entry.data, 'agents')) {
          const agent = textIn(one, 'agent_id')
          if (agent !== null) checked.add(agent)
        }
      }
    },
    end() {
      const bare = [...deciding].filter(([agent]) => !checked.has(agent))
      const share = ratioOf(deciding.size - bare.length, deciding.size)
      const isEnough = isAtMostPercent(bare.length, deciding.size, 100 - percent)
      if (!isEnough) for (const [, seq] of bare) unchecked.add(seq)
      return {
        metrics: [
          {
            id: 'M45',
            value: { checks: checks.count, by_verdict: byVerdict, agents_checked: share },
            population: deciding.size,
          },
        ],
        checks: [
          outcome({
            check: 'GRD-1',
            population: deciding.size,
            cases: checks,
            value: { share },
            threshold: `at least ${percent}% of agents`,
            relaxed: isRelaxed(question.thresholds, 'guarded_percent'),
            failures: failing(unchecked, {
              share: percentText(share),
              checked: deciding.size - bare.length,
              of: deciding.size,
            }),
          }),
        ],
      }
    },
  }
}
