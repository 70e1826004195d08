import { AccessEvaluation, authzen } from '@remit/contract'
import type { AccessDecision, AuthorizeAnswer } from '@remit/contract'
import { fail, Failure } from '@remit/core/base'
import type { Caller } from '@remit/core/caller'
import { implement, metadataUrl, Reply } from '@remit/core/http'
import type { ApiRequest, Route } from '@remit/core/http'
import { AlreadyAnswered } from '@remit/core/ledger/lanes'
import type { IdempotencyClaim, WorkOrigin } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { evaluateAll } from './evaluations.ts'
import { decisionOf, mapEvaluation, referenceOf } from './mapping.ts'

/** The idempotency claim of one evaluation. Keys of clients contain no line break. */
const partOf = (claim: IdempotencyClaim, i: number): IdempotencyClaim => ({
  ...claim,
  key: `${claim.key}\n${i}`,
})

const isPending = ({ context }: AccessDecision): boolean => context?.approval?.status === 'pending'

/** The Authorization API 1.0 of OpenID AuthZEN, over the same decisions and the same ledger. */
export const authzenRoutes = ({ db, clock, decider, settings, offered }: Deps): Route[] => {
  const evaluate = async (
    evaluation: AccessEvaluation,
    { claim, ...more }: WorkOrigin<Caller>,
  ): Promise<AccessDecision> => {
    const question = mapEvaluation(evaluation)
    const reference = await referenceOf(db, more.caller.orgId, question, clock.now())
    const toDecision = (answer: AuthorizeAnswer) => decisionOf(answer, reference)
    // A repeat gets the stored response in the form of this protocol.
    const kept = claim && {
      ...claim,
      encode: (reply: unknown) => claim.encode(toDecision(reply as AuthorizeAnswer)),
    }
    const origin = { ...more, claim: kept }
    return toDecision(await decider.authorize(question.request, origin, question.claims))
  }
  /** One of several evaluations; an earlier decision of it is repeated. */
  const evaluateOne = async (
    evaluation: AccessEvaluation,
    origin: WorkOrigin<Caller>,
  ): Promise<AccessDecision> => {
    try {
      return await evaluate(evaluation, origin)
    } catch (error) {
      if (error instanceof AlreadyAnswered) return JSON.parse(error.answer.body) as AccessDecision
      throw error
    }
  }
  /** Refusals of single evaluations do not reach the server's own record of refusals. */
  const record = async (error: unknown, request: ApiRequest<Caller>): Promise<never> => {
    if (error instanceof Failure && error.extras.asked !== undefined) {
      await request.recheck()
      await offered('impersonations')?.refused(
        request.caller,
        error.extras.asked,
        request.requestId,
      )
    }
    throw error
  }
  return implement(authzen, {
    accessEvaluation: ({ body }, _, request) => evaluate(body, request),

    accessEvaluations: async ({ body }, caller, request) => {
      const { claim, wantsNote, trace, span } = request
      await request.charge((body.evaluations?.length ?? 1) - 1)
      // The whole response is stored after the decisions, and each decision is stored too: a decision
      // of another or a dead process is not repeated. The writer knows when a pending one ends.
      const partOrigin = (i: number) => ({
        caller,
        claim: claim && partOf(claim, i),
        wantsNote,
        trace,
        span,
      })
      if (!body.evaluations?.length) {
        const decision = await evaluateOne(AccessEvaluation.parse(body), partOrigin(0))
        return new Reply(decision, { isKept: !isPending(decision) })
      }
      const evaluations = await evaluateAll(
        body,
        (one, i) =>
          evaluateOne(one, partOrigin(i)).catch((error: unknown) => record(error, request)),
        () => request.turn(),
      )
      return new Reply({ evaluations }, { isKept: !evaluations.some(isPending) })
    },

    authzenConfiguration: (_, __, request) => {
      const identifier = metadataUrl(settings.baseUrl, request.url())
      if (identifier === null)
        throw fail('not_found', 'The metadata requires an https URL in REMIT_BASE_URL')
      return Promise.resolve(metadataOf(identifier))
    },
  })
}

const metadataOf = (identifier: string) => ({
  policy_decision_point: identifier,
  access_evaluation_endpoint: `${identifier}/access/v1/evaluation`,
  access_evaluations_endpoint: `${identifier}/access/v1/evaluations`,
})
