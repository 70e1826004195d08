import { guard } from '@remit/contract'
import type { GuardAnswer, GuardRequest } from '@remit/contract'
import type { Computer } from '../threads/pool.ts'
import { actAs } from '../caller/caller.ts'
import type { Caller } from '../caller/caller.ts'
import { implement } from '../http/endpoint.ts'
import type { RequestInfo, Route } from '../http/endpoint.ts'
import { checkedAgent, checkMade } from './checked.ts'
import type { GuardChecks } from './checked.ts'
import { externalDetections } from './external-model.ts'
import type { ExternalModel, ExternalDetections } from './external-model.ts'
import { shippedModel } from './shipped-model.ts'
import type { Job } from '../threads/job.ts'
import { fail } from '../base/errors.ts'
import { checkContent } from './guard.ts'

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

/**
 * Texts up to this total of UTF-16 units are checked on the event loop: about 5 ms, 30 for the
 * slowest input.
 */
const INLINE_LENGTH = 16_384
/** Many times the duration of the largest body. */
const LIMIT_MS = 20_000

interface CheckTask {
  readonly request: GuardRequest
  readonly opinions: ExternalDetections | undefined
}

export const checkJob: Job<CheckTask, GuardAnswer> = {
  name: 'guard',
  run: ({ request, opinions }, tell) => tell(checkContent(request, opinions)),
}

/**
 * Runs `checkContent`, in a worker if the texts are long, so that other requests need not wait.
 * Throws `deadline_exceeded` or `overloaded`: an incomplete check has no verdict.
 */
export async function checkAnywhere(
  { request, opinions }: CheckTask,
  computer: Computer,
  owner: string,
  limitMs = LIMIT_MS,
): Promise<GuardAnswer> {
  if (lengthOf(request) <= INLINE_LENGTH) return checkContent(request, opinions)
  const { parts, ended } = await computer.run(owner, checkJob, { request, opinions }, limitMs)
  const [answer] = parts
  if (answer) return answer
  const later = { headers: { 'Retry-After': '1' } }
  throw ended === 'time'
    ? fail('deadline_exceeded', 'The check exceeded its time limit and has no verdict', later)
    : fail('overloaded', 'The check exceeded its memory limit and has no verdict', later)
}

const lengthOf = ({ content, messages = [] }: GuardRequest): number =>
  messages.reduce((sum, message) => sum + message.content.length, content?.length ?? 0)
