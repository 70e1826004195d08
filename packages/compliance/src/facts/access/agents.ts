import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import type { AgentState } from '../state/agents.ts'
import type { FactState } from '../state/state.ts'

/** Registered agents that were not removed, including suspended ones. */
export const presentAgents = ({ agents }: FactState): AgentState[] =>
  [...agents.values()].filter(({ removed }) => removed === null)

const isOwned = ({ owners }: AgentState): boolean => owners.some(({ type }) => type === 'user')

/** M26, M27: the registry at the end of the period, and agents without a named owner. */
export const agentsMeter: CreateMeter = ({ seqsOf }) => {
  const unowned = seqsOf('ACC-1')
  let registered = 0
  let removed = 0
  return {
    reads: ['agent.registered', 'agent.removed'],
    entry({ kind, erased }) {
      if (erased) return
      if (kind === 'agent.registered') registered += 1
      else removed += 1
    },
    end(state) {
      const agents = presentAgents(state)
      for (const agent of agents) if (!isOwned(agent)) unowned.add(agent.changedSeq)
      return {
        metrics: [
          {
            id: 'M26',
            value: { active: agents.length, registered, removed },
            population: agents.length,
          },
          { id: 'M27', value: unowned.count, population: agents.length },
        ],
        checks: [
          outcome({
            check: 'ACC-1',
            population: agents.length,
            value: { count: unowned.count },
            failures: failing(unowned),
          }),
        ],
      }
    },
  }
}
