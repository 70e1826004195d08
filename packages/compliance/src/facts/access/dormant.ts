import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { DAY } from '../report-query.ts'
import { isLive } from '../state/credentials.ts'
import { isRelaxed } from '../thresholds.ts'
import { presentAgents } from './agents.ts'

/**
 * M28: agents with a live credential and no recent decision. An agent that is younger is not judged. Each
 * erased decision may have been one of the others.
 */
export const dormantMeter: CreateMeter = ({ question, seqsOf }) => {
  const { to, thresholds } = question
  const dormant = seqsOf('ACC-7')
  const active = new Set<string>()
  const since = to - thresholds.dormant_days * DAY
  let erased = 0
  return {
    reads: ['authorization.decided'],
    since,
    entry({ agent_id, erased: isErased }) {
      if (isErased) erased += 1
      if (agent_id !== null) active.add(agent_id)
    },
    end(state) {
      const armed = new Set<string>()
      for (const one of state.credentials.values()) if (isLive(one, to)) armed.add(one.agentId)
      const agents = presentAgents(state)
      const idle = agents.filter(({ id, time }) => time < since && armed.has(id) && !active.has(id))
      if (idle.length > erased) for (const { changedSeq } of idle) dormant.add(changedSeq)
      return {
        metrics: [{ id: 'M28', value: dormant.count, population: agents.length }],
        checks: [
          outcome({
            check: 'ACC-7',
            population: agents.length,
            value: { count: dormant.count },
            relaxed: isRelaxed(thresholds, 'dormant_days'),
            failures: failing(dormant),
          }),
        ],
      }
    },
  }
}
