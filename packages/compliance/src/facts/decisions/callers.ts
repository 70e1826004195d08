import { isKindInPlan } from '../plan.ts'
import { Cases } from '../cases.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import type { FactState } from '../state/state.ts'

// The maximum number of registered agents; further names of one caller are not counted individually.
const MOST = 50_000

/**
 * M13: callers that were not registered. Removed agents count as registered: their requests are
 * denied, and an allow for one of them is a matter of DEC-3.
 */
export const callersMeter: CreateMeter = ({ seqsOf }) => {
  const unregistered = seqsOf('DEC-1')
  const names = new Set<string>()
  const decisions = new Cases()
  let allows = 0
  return {
    reads: ['authorization.decided'],
    entry({ seq, time, agent_id: id, decision }, { agents }) {
      if (id === null) return
      decisions.add(time)
      if (agents.has(id)) return
      unregistered.add(seq)
      if (decision === 'allow') allows += 1
      if (names.size < MOST) names.add(id)
    },
    end(state) {
      const isKept = isKindInPlan('agent_registry', state.organization?.plan ?? 'free')
      // Each erased registration may have been one of theirs.
      const isExplained = names.size <= state.lost('agent.registered')
      const value = { callers: names.size, decisions: unregistered.count, allows }
      return {
        metrics: [{ id: 'M13', value, population: decisions.count }],
        checks: [
          outcome({
            check: 'DEC-1',
            population: isKept ? decisions.count : 0,
            cases: decisions,
            value,
            failures: isExplained
              ? []
              : failing(unregistered, { n: names.size, allows }, registeredSince(names, state)),
          }),
        ],
      }
    },
  }
}

/** The last registration of agents that called before it; null while one of them is not registered. */
function registeredSince(names: ReadonlySet<string>, { agents }: FactState): number | null {
  let last = -1
  for (const name of names) {
    const agent = agents.get(name)
    if (!agent) return null
    if (agent.seq > last) last = agent.seq
  }
  return last < 0 ? null : last
}
