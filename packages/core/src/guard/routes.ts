import { guard } from '@remit/contract'
import type { GuardAnswer, GuardRequest } from '@remit/contract'
import type { Computer } from '../threads/pool.ts'
import { actAs } from '../caller/caller.ts'
import { implement } from '../http/endpoint.ts'
import type { RequestInfo, Route } from '../http/endpoint.ts'
import type { Caller } from '../caller/caller.ts'
import { checkAnywhere } from './check-job.ts'
import { checkedAgent, checkMade } from './checked.ts'
import type { GuardChecks } from './checked.ts'
import { externalDetections } from './external-model.ts'
import type { ExternalModel } from './external-model.ts'
import { shippedModel } from './shipped-model.ts'

interface GuardDeps {
  readonly observers: readonly GuardChecks[]
  readonly second: ExternalModel | null
  readonly computer: Computer
}

/** Checks a text for a caller, and tells the observers. */
export type CheckFor = (
  caller: Caller,
  body: GuardRequest,
  request: Pick<RequestInfo, 'signal'>,
) => Promise<GuardAnswer>

export function checkerOf({ observers, second, computer }: GuardDeps): CheckFor {
  // Loaded now, so that the first request does not wait, and a damaged file prevents the start.
  shippedModel()
  return async (caller, body, request) => {
    actAs(caller, body.agent_id)
    const opinions = second ? await externalDetections(body, second, request.signal()) : undefined
    const answer = await checkAnywhere({ request: body, opinions }, computer, caller.orgId)
    if (observers.length === 0) return answer
    const agentId = checkedAgent(caller, body)
    const check = checkMade(agentId, body, answer)
    for (const observer of observers) {
      if (check) await observer.made(caller, check)
      else observer.passed?.(caller.orgId, agentId)
    }
    return answer
  }
}

export const guardRoutes = (check: CheckFor): Route[] =>
  implement(
    { checkContent: guard.checkContent },
    { checkContent: ({ body }, caller, request) => check(caller, body, request) },
  )
