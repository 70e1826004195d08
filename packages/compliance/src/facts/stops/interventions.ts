import type { CreateMeter } from '../meter.ts'
import { INTERVENING, interventionOf } from './intervention.ts'
import type { Intervention } from './intervention.ts'

/** M24: interventions by people, by kind; others are by the operator, shared keys or agents. */
export const interventionsMeter: CreateMeter = () => {
  const byPeople: Record<Intervention, number> = {
    denies: 0,
    suspensions: 0,
    removals: 0,
    permissions_revoked: 0,
    credentials_revoked: 0,
    refusals: 0,
  }
  let total = 0
  let others = 0
  return {
    reads: INTERVENING,
    entry(entry, state) {
      const found = interventionOf(entry, state)
      if (!found) return
      total += 1
      if (found.byPerson) byPeople[found.what] += 1
      else others += 1
    },
    end: () => ({
      metrics: [
        {
          id: 'M24',
          value: { total: total - others, ...byPeople, by_others: others },
          population: total,
        },
      ],
      checks: [],
    }),
  }
}
