import { AccessEvaluation, authzen } from '@remit/contract'
import type { AccessDecision, AuthorizeAnswer } from '@remit/contract'
import { fail, implement } from '@remit/core'
import type { Caller, Deps, RequestInfo, Route } from '@remit/core'
import { evaluateAll } from './evaluations.ts'
import { decisionOf, questionOf } from './mapping.ts'
import { decisionPoint, metadataOf } from './metadata.ts'
import { referenceOf } from './reference.ts'

/** The Authorization API 1.0 of OpenID AuthZEN, over the same decisions and the same ledger. */
export const authzenRoutes = ({ db, clock, decider, settings }: Deps): Route[] => {
  const evaluate = async (
    evaluation: AccessEvaluation,
    caller: Caller,
    { claim, wantsNote }: Pick<RequestInfo, 'claim' | 'wantsNote'>,
  ): Promise<AccessDecision> => {
    const question = questionOf(evaluation)
    const reference = await referenceOf(db, caller.orgId, question, clock.now())
    const toDecision = (answer: AuthorizeAnswer) => decisionOf(answer, reference)
    // A repeat is answered with what is kept: in the words of this protocol.
    const kept = claim && {
      ...claim,
      encode: (reply: unknown) => claim.encode(toDecision(reply as AuthorizeAnswer)),
    }
    const requester = { claim: kept, wantsNote }
    return toDecision(await decider.authorize(caller, question.request, requester, question.claims))
  }
  return implement(authzen, {
    accessEvaluation: ({ body }, caller, request) => evaluate(body, caller, request),

    accessEvaluations: async ({ body }, caller, { wantsNote }) => {
      // The answer as a whole is what a repeat gets, so no single decision keeps one.
      const requester = { claim: null, wantsNote }
      if (!body.evaluations?.length)
        return evaluate(AccessEvaluation.parse(body), caller, requester)
      return { evaluations: await evaluateAll(body, (one) => evaluate(one, caller, requester)) }
    },

    authzenConfiguration: (_, __, request) => {
      const identifier = decisionPoint(settings.baseUrl, request.url())
      if (identifier === null)
        throw fail('not_found', 'REMIT_BASE_URL is no https URL, and AuthZEN asks for one')
      return Promise.resolve(metadataOf(identifier))
    },
  })
}
