import { evaluation } from '@remit/contract'
import { actAs } from '../http/own-agent.ts'
import { implement } from '../module/implement.ts'
import type { Route } from '../module/implement.ts'
import { checkedAgent, checkMade } from './checked.ts'
import type { GuardChecks } from './checked.ts'
import { checkContent } from './guard.ts'
import { secondOpinions } from './second-opinion.ts'
import type { SecondModel } from './second-opinion.ts'
import { shippedModel } from './shipped-model.ts'

/** The guard's one route; `observers` are told of checks, `second` is asked for its own. */
export const guardRoutes = (
  observers: readonly GuardChecks[] = [],
  second: SecondModel | null = null,
): Route[] => {
  // Read now, so that the first request does not wait for it, and a damaged file stops the start.
  shippedModel()
  return implement(
    { checkContent: evaluation.checkContent },
    {
      checkContent: async ({ body }, caller, request) => {
        actAs(caller, body.agent_id)
        const opinions = second ? await secondOpinions(body, second, request.signal()) : undefined
        const answer = checkContent(body, opinions)
        if (observers.length === 0) return answer
        const agentId = checkedAgent(caller, body)
        const check = checkMade(agentId, body, answer)
        for (const observer of observers) {
          if (check) await observer.made(caller, check)
          else observer.passed?.(caller.orgId, agentId)
        }
        return answer
      },
    },
  )
}
