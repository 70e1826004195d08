import { AgentId } from '@remit/contract'
import type {
  AccessDecision,
  AccessEvaluation,
  AuthorizeAnswer,
  AuthorizeRequest,
} from '@remit/contract'
import { invalid } from '@remit/core/base'
import type { ClaimedFacts } from '@remit/core/decision'
import type { AnyDatabase } from '@remit/core/db'
import { bindingOf } from '../approvals/binding.ts'
import { statusAt } from '../approvals/lifecycle.ts'
import { boundOf } from '../approvals/request.ts'
import { findRequest } from '../approvals/store.ts'

/** The equivalent `/v1/authorize` request, with the AuthZEN-specific members. */
export interface MappedEvaluation {
  readonly request: AuthorizeRequest
  readonly claims: ClaimedFacts
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

/** The state of the approval that a request refers to (`context.approval.id`). */
export type ApprovalReference = 'unknown' | 'out_of_scope' | 'over' | 'open'

/**
 * Reads the approval that a request refers to; null without a reference. It explains a denial and
 * decides nothing: approvals are found by their binding, never by the caller's reference.
 */
export async function referenceOf(
  db: AnyDatabase,
  orgId: string,
  question: MappedEvaluation,
  now: number,
): Promise<ApprovalReference | null> {
  const { approval } = question.request.context ?? {}
  if (typeof approval !== 'object' || approval === null || !('id' in approval)) return null
  const row =
    typeof approval.id === 'string' ? await findRequest(db, orgId, approval.id) : undefined
  if (!row) return 'unknown'
  if (bindingOf(question, boundOf(row)).hash !== row.binding_hash) return 'out_of_scope'
  return ['pending', 'approved', 'rejected'].includes(statusAt(row, now)) ? 'open' : 'over'
}

type Explanation = Pick<NonNullable<AccessDecision['context']>, 'approval_reason' | 'next_action'>

const FAILED: Readonly<Record<ApprovalReference, Explanation>> = {
  unknown: { approval_reason: 'approval_unverifiable', next_action: 'none' },
  out_of_scope: { approval_reason: 'out_of_scope', next_action: 'request' },
  over: { approval_reason: 'approval_expired', next_action: 'request' },
  open: {},
}

/**
 * Why the referenced approval did not apply, by the name of the AuthZEN Access Request and Approval
 * Profile. The profile's `reason` stays ours: it is optional there, and clients follow `next_action`.
 */
function explain(
  { decision, reason }: AuthorizeAnswer,
  reference: ApprovalReference | null,
): Explanation {
  if (reference === null || decision === 'allow') return {}
  if (decision === 'needs_approval') return FAILED[reference]
  return reason === 'approval_rejected' || reason === 'approval_backlog'
    ? {}
    : { approval_reason: 'policy_denied', next_action: 'none' }
}
