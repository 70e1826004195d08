import { z } from 'zod'
import { Match, SpendState } from './authorize.ts'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { Action, component, FreeForm, issuesOf, Name, Timestamp } from './primitives.ts'
import { Reason } from './reasons.ts'

/** Maximum evaluations per request. */
export const MAX_EVALUATIONS = 1_000

/** A subject or resource. */
const Entity = z.looseObject({ type: Name, id: Name, properties: FreeForm.optional() })
const ActionEntity = z.looseObject({ name: Action, properties: FreeForm.optional() })

/** The request of the Access Evaluation API (AuthZEN Authorization API 1.0). */
export const AccessEvaluation = z
  .looseObject({
    subject: Entity,
    action: ActionEntity,
    resource: Entity,
    context: FreeForm.optional(),
  })
  .meta({ id: 'AccessEvaluation' })
export type AccessEvaluation = z.infer<typeof AccessEvaluation>

const PartOfEntity = z.looseObject({
  type: z.string().optional(),
  id: z.string().optional(),
  properties: FreeForm.optional(),
})

const parts = {
  subject: PartOfEntity.optional(),
  action: z
    .looseObject({ name: z.string().optional(), properties: FreeForm.optional() })
    .optional(),
  resource: PartOfEntity.optional(),
  context: FreeForm.optional(),
}

export const EvaluationsSemantic = z
  .enum(['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'])
  .meta({ id: 'EvaluationsSemantic' })
export type EvaluationsSemantic = z.infer<typeof EvaluationsSemantic>

/**
 * The request of the Access Evaluations API. Top-level members are the defaults of each evaluation;
 * without evaluations, it is a single request. An error in one evaluation affects only that one, so
 * their parts are validated when they are evaluated.
 */
export const AccessEvaluations = z
  .looseObject({
    ...parts,
    evaluations: z
      .array(
        z.union([
          z.looseObject(parts),
          z.unknown().describe('Any other value gets an error in its own element.'),
        ]),
      )
      .max(MAX_EVALUATIONS, `must be at most ${MAX_EVALUATIONS} evaluations`)
      .optional(),
    options: z.looseObject({ evaluations_semantic: EvaluationsSemantic.optional() }).optional(),
  })
  .check(({ value, issues }) => {
    if (value.evaluations && value.evaluations.length > 0) return
    issues.push(...issuesOf(AccessEvaluation, value))
  })
  .meta({ id: 'AccessEvaluations' })
export type AccessEvaluations = z.infer<typeof AccessEvaluations>

/**
 * `decision` is true only for `allow`; the context has the reason, and the next step after a
 * denial.
 */
export const AccessDecision = component('AccessDecision', {
  decision: z.boolean(),
  context: z
    .object({
      reason: Reason,
      message: z.string(),
      evaluation_id: z.string().describe('decision_id of the decision'),
      evaluated_at: Timestamp,
      matched: z.array(Match),
      access_request: z
        .object({
          expires_at: Timestamp,
          template: z.string().describe('id of an approval rule'),
        })
        .describe('the denial ends with an approval'),
      approval: z.object({
        id: z.string(),
        status: z.string(),
        expires_at: Timestamp.nullable(),
      }),
      approval_reason: z
        .enum(['approval_expired', 'approval_unverifiable', 'out_of_scope', 'policy_denied'])
        .describe('why `context.approval` of the request did not apply'),
      next_action: z.enum(['request', 'none']).describe('how to proceed after a failed approval'),
      spend: SpendState,
      warnings: z.array(z.string()),
      ledger: Receipt,
      error: z.object({ status: z.int(), message: z.string() }),
    })
    .partial(),
})
export type AccessDecision = z.infer<typeof AccessDecision>

const PdpMetadata = component('PdpMetadata', {
  policy_decision_point: z.url(),
  access_evaluation_endpoint: z.url(),
  access_evaluations_endpoint: z.url(),
})

const asAuthorize = {
  plan: 'team',
  roles: ['ingest'],
  scope: 'authorize',
  lenient: true,
  status: 200,
} as const

export const authzen = {
  accessEvaluation: endpoint('POST /access/v1/evaluation', {
    ...asAuthorize,
    viaWriter: true,
    summary: 'Evaluate one request (AuthZEN 1.0, Access Evaluation)',
    text: 'Decides one request in the format of the AuthZEN Authorization API 1.0. It is the same decision as `POST /v1/authorize`, with the same ledger entry. The `context` of the answer gives the reason and, for a request that needs approval, how to ask for it.',
    problems: ['agent_mismatch', 'quota_exceeded'],
    body: AccessEvaluation,
    ok: AccessDecision,
  }),
  accessEvaluations: endpoint('POST /access/v1/evaluations', {
    ...asAuthorize,
    summary: 'Evaluate several requests (AuthZEN 1.0, Access Evaluations)',
    text: 'Decides up to 1,000 requests in their order. Members at the top level are defaults for evaluations that lack them. `options.evaluations_semantic` stops at the first denial or permission. A fault in one evaluation is reported in its own element.',
    problems: ['agent_mismatch', 'quota_exceeded'],
    body: AccessEvaluations,
    ok: z.union([AccessDecision, z.object({ evaluations: z.array(AccessDecision) })]),
  }),
  authzenConfiguration: endpoint('GET /.well-known/authzen-configuration', {
    plan: 'team',
    public: true,
    lenient: true,
    summary: 'Get the policy decision point metadata (AuthZEN 1.0)',
    text: 'Returns the metadata of the policy decision point (AuthZEN 1.0, section 9). It needs no key. It is 404 where `REMIT_BASE_URL` is not https.',
    problems: ['not_found'],
    ok: PdpMetadata,
  }),
}
