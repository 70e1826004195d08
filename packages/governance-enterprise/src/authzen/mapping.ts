import type {
  AccessDecision,
  AccessEvaluation,
  AuthorizeAnswer,
  AuthorizeRequest,
} from '@remit/contract'
import { AgentId } from '@remit/contract'
import { invalid } from '@remit/core/base'
import type { UnverifiedFacts } from '@remit/core/decision'
import { explain } from './reference.ts'
import type { ApprovalReference } from './reference.ts'

/** The equivalent `/v1/authorize` request, with the AuthZEN-specific members. */
export interface MappedEvaluation {
  readonly request: AuthorizeRequest
  readonly claims: UnverifiedFacts
}

/** Subject types that act for themselves, whatever the context contains; case-insensitive. */
const AGENT_TYPES: ReadonlySet<string> = new Set(['agent', 'client', 'workload', 'service'])
/** The subject type that an agent can act for. */
const ACTED_FOR_TYPE = 'user'

/** Converts an AuthZEN evaluation to our request; undefined members are dropped. */
export function mapEvaluation(evaluation: AccessEvaluation): MappedEvaluation {
  const { subject, action, resource, context } = evaluation
  return {
    request: {
      agent_id: agentOf(evaluation),
      action: action.name,
      resource: known(resource),
      ...(context && { context }),
    },
    claims: {
      subject: known(subject),
      ...(action.properties && { actionProperties: action.properties }),
    },
  }
}

/**
 * The evaluated agent: the subject, or the agent in the context if the subject has a type that
 * agents can act for (COAZ). For other types the context must not choose the agent.
 */
function agentOf({ subject, context = {} }: AccessEvaluation): string {
  const type = subject.type.toLowerCase()
  const named = Object.hasOwn(context, 'agent') ? context['agent'] : null
  const isNamed = !AGENT_TYPES.has(type) && named !== null
  if (isNamed && type !== ACTED_FOR_TYPE)
    throw invalid('context.agent', `is only allowed with a subject of the type ${ACTED_FOR_TYPE}`)
  const { success, data } = AgentId.safeParse(isNamed ? named : subject.id)
  if (!success)
    throw invalid(isNamed ? 'context.agent' : 'subject.id', 'must be the id of an agent')
  return data
}

const known = ({ type, id, properties }: AccessEvaluation['subject']) => ({
  type,
  id,
  ...(properties && { properties }),
})

/** Our decision in AuthZEN form. `needs_approval` is a denial with a reason. */
export function decisionOf(
  answer: AuthorizeAnswer,
  reference: ApprovalReference | null,
): AccessDecision {
  const { approval, matched, message, warnings, spend } = answer
  const rule = matched.find(({ kind }) => kind === 'approval_rule')
  return {
    decision: answer.decision === 'allow',
    context: {
      reason: answer.reason,
      message,
      evaluation_id: answer.decision_id,
      evaluated_at: answer.decided_at,
      matched,
      ...(answer.decision === 'needs_approval' &&
        rule &&
        approval?.expires_at && {
          access_request: { expires_at: approval.expires_at, template: rule.id },
        }),
      ...(approval && { approval }),
      ...explain(answer, reference),
      ...(spend && { spend }),
      ...(warnings && { warnings }),
      ledger: answer.ledger,
    },
  }
}
