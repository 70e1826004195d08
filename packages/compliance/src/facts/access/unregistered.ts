import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { recordIn, textIn } from '../read.ts'

/** M33: credentials for agents that had not been registered. */
export const unregisteredMeter: CreateMeter = ({ seqsOf }) => {
  const early = seqsOf('ACC-5')
  let issued = 0
  return {
    reads: ['credential.issued', 'credential.rotated'],
    entry({ seq, erased, agent_id, data }, state) {
      if (erased) return
      issued += 1
      const credential = recordIn(data, 'credential') ?? {}
      const agentId = textIn(credential, 'agent_id') ?? agent_id
      const isKnown = agentId !== null && state.agents.has(agentId)
      // Its registration may be what was erased.
      if (!isKnown && state.lost('agent.registered') === 0) early.add(seq)
    },
    end: () => ({
      metrics: [{ id: 'M33', value: early.count, population: issued }],
      checks: [
        outcome({
          check: 'ACC-5',
          population: issued,
          value: { count: early.count },
          threshold: 'none before its agent is registered',
          failures: failing(early),
        }),
      ],
    }),
  }
}
