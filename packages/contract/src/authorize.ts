import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { at, MAX_POINTER, MAX_REPLACED } from './fit/index.ts'
import type { Json } from './fit/index.ts'
import { byWindow } from './fit/values.ts'
import { Receipt } from './ledger.ts'
import { Action, AgentId, component, FreeForm, Name, Resource, Timestamp } from './primitives.ts'
import { Reason } from './reasons.ts'

export const Decision = z.enum(['allow', 'deny', 'needs_approval']).meta({ id: 'Decision' })
export type Decision = z.infer<typeof Decision>

const POINTER_RULE = 'must be a JSON Pointer (RFC 6901) to a place in context'
/** The places of a context that its sender replaced. */
export const Replaced = z
  .array(z.string().max(MAX_POINTER, `must have at most ${MAX_POINTER} characters`))
  .max(MAX_REPLACED, `must be at most ${MAX_REPLACED} places`)
  .describe(
    'JSON Pointers (RFC 6901) to the places in `context` whose values are not sent, because they are too deep or too large. A condition that reads one is an error. An empty pointer is the whole context, and denies with `context_unseen`',
  )

interface WithReplaced {
  readonly context?: Readonly<Record<string, unknown>> | undefined
  readonly replaced?: readonly string[] | undefined
}

const POINTER = /^(?:\/(?:[^/~]|~[01])*)*$/

/** Longer ones are refused before. */
const isPlace = (context: Json, pointer: string): boolean =>
  pointer.length > MAX_POINTER || (POINTER.test(pointer) && at(context, pointer) !== undefined)

/** A pointer to nothing would name a place of another context. */
export const replacedResolve: z.core.CheckFn<WithReplaced> = ({ value, issues }) => {
  const { context = {}, replaced = [] } = value
  for (const [i, pointer] of replaced.entries())
    if (!isPlace(context as Json, pointer))
      issues.push({
        code: 'custom',
        path: ['replaced', i],
        message: POINTER_RULE,
        input: pointer,
      })
}

/** The principal that an agent acts for. */
const Subject = z
  .strictObject({ type: Name, id: Name, properties: FreeForm.optional() })
  .describe(
    'The principal that the agent acts for, such as `{"type": "user", "id": "ada"}`. The caller states it; nothing verifies it',
  )
  .meta({ id: 'Subject' })

const request = {
  action: Action,
  agent_id: AgentId,
  context: FreeForm.optional(),
  replaced: Replaced.optional(),
  resource: Resource.optional(),
  subject: Subject.optional(),
}

export const AuthorizeRequest = z
  .strictObject(request)
  .check(replacedResolve)
  .meta({ id: 'AuthorizeRequest' })
export type AuthorizeRequest = z.infer<typeof AuthorizeRequest>

/** The request body: a credential may omit its own agent. */
export const AuthorizeBody = z
  .strictObject({
    ...request,
    agent_id: AgentId.optional().describe(
      'The agent that acts; required with an ingest key, optional with a credential',
    ),
  })
  .check(replacedResolve)
  .meta({ id: 'AuthorizeBody' })
export type AuthorizeBody = z.infer<typeof AuthorizeBody>

/** A rule, permission or limit that took part in the decision. */
export const Match = z.object({
  kind: z.string(),
  id: z.string(),
  revision: z.int().optional().describe('Of a policy, as it was evaluated'),
})
export type Match = z.infer<typeof Match>

const SpendWindow = z.object({
  limit_usd: z.number(),
  spent_usd: z.number().describe('spent and held before this request'),
  remaining_usd: z.number(),
  resets_at: Timestamp,
})

export const SpendState = z.object({
  amount_usd: z.number().nullable(),
  ...byWindow('word', () => SpendWindow.nullable()),
})
export type SpendState = z.infer<typeof SpendState>

/** A budget that a request matched; see `docs/budgets.md`. */
const BudgetState = z
  .object({
    id: z.string(),
    unit: z.string(),
    window: z.string().describe('`hour`, `day`, `week`, `month`, `total` or a rolling window'),
    limit: z.number().describe('Maximum of what is used and held in a window'),
    used: z.number().describe('Used before this request'),
    held: z.number().describe('Held before this request'),
    remaining: z.number().describe('Left for this request'),
    resets_at: Timestamp.nullable().describe(
      'End of the window, or of the oldest part of a rolling one; null for `total`',
    ),
  })
  .meta({ id: 'BudgetState' })
export type BudgetState = z.infer<typeof BudgetState>

/** Members of a decision about budgets. */
export const budgetFacts = {
  budgets: z
    .array(BudgetState)
    .optional()
    .describe(
      'The budgets that the request matched, those with the smallest rest first, at most 16',
    ),
  budgets_omitted: z.int().optional().describe('Number of further budgets'),
  retry_at: Timestamp.nullable()
    .optional()
    .describe(
      'On a denial by a budget or spend limit: when the windows that deny have ended. Null: the request can never pass. Absent where only settlements can make room',
    ),
}

export const AuthorizeAnswer = component('AuthorizeAnswer', {
  decision: Decision,
  reason: Reason,
  message: z.string(),
  decision_id: z.string(),
  request_id: z.string().optional(),
  agent_id: AgentId,
  agent: z
    .object({ registered: z.literal(false).describe('False: no such agent is registered') })
    .optional()
    .describe('Present if the agent is not registered'),
  action: Action,
  matched: z.array(Match),
  approval: z
    .object({ id: z.string(), status: z.string(), expires_at: Timestamp.nullable() })
    .optional(),
  spend: SpendState.optional(),
  limit_usd: z.number().optional(),
  ...budgetFacts,
  warnings: z.array(z.string()).optional(),
  ledger: Receipt,
  decided_at: Timestamp,
})
export type AuthorizeAnswer = z.infer<typeof AuthorizeAnswer>

export const authorize = {
  authorize: endpoint('POST /v1/authorize', {
    plan: 'team',
    roles: ['ingest'],
    scope: 'authorize',
    viaWriter: true,
    summary: 'Decide whether an agent may act, and record the decision',
    text: 'Decides one action of one agent and records the decision in the same transaction. Every outcome is 200: `allow`, `deny` or `needs_approval`. The stages run in this order: explicit agent deny, spend limit, policies, approval rules. An allow holds its amount against the spend limit until `POST /v1/ledger` settles it. A 503 means that nothing was decided or recorded.',
    problems: ['agent_mismatch', 'quota_exceeded'],
    body: AuthorizeBody,
    ok: AuthorizeAnswer,
  }),
}
