import type {
  AccessDecision,
  AccessEvaluation,
  AuthorizeAnswer,
  AuthorizeRequest,
} from '@remit/contract'
import { Name } from '@remit/contract'
import { invalid } from '@remit/core'
import type { Claims } from '@remit/core'
import { explain } from './reference.ts'
import type { Reference } from './reference.ts'

/** What `/v1/authorize` would be asked, with what only AuthZEN says. */
export interface Question {
  readonly request: AuthorizeRequest
  readonly claims: Claims
}

/** Types of subjects that act for themselves, whatever the context names; compared without case. */
const AGENT_TYPES: ReadonlySet<string> = new Set(['agent', 'client', 'workload', 'service'])
/** The type of subjects that an agent can act for. */
const ACTED_FOR_TYPE = 'user'

/** An AuthZEN evaluation in our own terms; members that it does not define are left behind. */
export function questionOf(evaluation: AccessEvaluation): Question {
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
 * The agent that is judged: the subject, or the agent that the context names where the subject is
 * somebody it can act for (COAZ). With any other type the context must not choose whose rules count.
 */
function agentOf({ subject, context = {} }: AccessEvaluation): string {
  const type = subject.type.toLowerCase()
  const named = Object.hasOwn(context, 'agent') ? context['agent'] : null
  if (AGENT_TYPES.has(type) || named === null) return subject.id
  if (type !== ACTED_FOR_TYPE)
    throw invalid('context.agent', `is only allowed with a subject of the type ${ACTED_FOR_TYPE}`)
  const { success, data } = Name.safeParse(named)
  if (!success) throw invalid('context.agent', 'must be the id of an agent')
  return data
}

const known = ({ type, id, properties }: AccessEvaluation['subject']) => ({
  type,
  id,
  ...(properties && { properties }),
})

/** Our answer as an AuthZEN decision. `needs_approval` is a denial that somebody can lift. */
export function decisionOf(answer: AuthorizeAnswer, reference: Reference | null): AccessDecision {
  const { approval, matched, message, warnings, spend } = answer
  const rule = matched.find(({ kind }) => kind === 'approval_rule')
  return {
    decision: answer.decision === 'allow',
    context: {
      ...explain(answer, reference),
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
      ...(spend && { spend }),
      ...(warnings && { warnings }),
      ledger: answer.ledger,
    },
  }
}
