import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { AgentId, component, Share, strictComponent } from './primitives.ts'

export const GuardSource = z
  .enum(['user', 'tool', 'document', 'system'])
  .meta({ id: 'GuardSource' })
export type GuardSource = z.infer<typeof GuardSource>

export const GuardCheck = z
  .enum(['injection', 'secrets', 'pii', 'invisible', 'canary'])
  .meta({ id: 'GuardCheck' })
export type GuardCheck = z.infer<typeof GuardCheck>

export const GuardMessage = strictComponent('GuardMessage', {
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.string(),
})
export type GuardMessage = z.infer<typeof GuardMessage>

export const GuardRequest = z
  .strictObject({
    content: z.string().optional(),
    messages: z.array(GuardMessage).min(1).max(1000).optional(),
    direction: z.enum(['input', 'output']).default('input'),
    source: GuardSource.default('user'),
    sensitivity: z.enum(['low', 'balanced', 'high']).default('balanced'),
    threshold: Share.optional().describe(
      'Score from which a text is flagged, regardless of the sensitivity',
    ),
    checks: z.array(GuardCheck).min(1).optional(),
    canaries: z.array(z.string().min(4).max(256)).max(100).optional(),
    allow: z
      .array(z.string().min(1).max(256))
      .max(100)
      .optional()
      .describe('Literal texts or ids of detectors that are never findings'),
    agent_id: AgentId.optional(),
    session_id: AgentId.optional().describe(
      'Session of the text; use the value of `context.session_id` of decisions to correlate both',
    ),
    request_id: AgentId.optional().describe(
      'Request of the text; use the value of `context.request_id` of decisions',
    ),
    explain: z.boolean().default(false),
  })
  .refine(({ content, messages }) => (content === undefined) !== (messages === undefined), {
    path: ['content'],
    message: 'requires either content or messages',
  })
  .meta({ id: 'GuardRequest' })
export type GuardRequest = z.infer<typeof GuardRequest>

const GuardAction = z.enum(['allow', 'redact', 'block']).meta({ id: 'GuardAction' })
export type GuardAction = z.infer<typeof GuardAction>

export const GuardFinding = component('GuardFinding', {
  detector: z.string(),
  category: z.string(),
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  start: z.int().describe('UTF-16 index into the original text'),
  end: z.int(),
  excerpt: z.string().describe('The original text from start, at most 2,000 UTF-16 units'),
  view: z.string().describe('The form of the text that the detector read'),
  decoded: z.string().optional(),
  message: z.int().optional().describe('Index into `messages`, in that form'),
  part: z.int().optional().describe('Index into `parts` of the part that it begins in'),
})
export type GuardFinding = z.infer<typeof GuardFinding>

const Verdict = { action: GuardAction, flagged: z.boolean(), score: Share }
const Repaired = {
  redacted: z
    .string()
    .optional()
    .describe('The text without secrets, personal data and hidden text'),
  sanitized: z.string().optional().describe('The text without invisible characters'),
}

export const GuardAnswer = component('GuardAnswer', {
  ...Verdict,
  reasons: z.array(z.string()),
  categories: z.array(
    z.object({
      id: z.string(),
      score: Share,
      owasp: z.array(z.string()),
      atlas: z.array(z.string()),
    }),
  ),
  findings: z.array(GuardFinding),
  ...Repaired,
  normalizations: z.array(z.object({ kind: z.string(), count: z.int() })),
  parts: z
    .array(
      z.object({
        start: z.int().describe('UTF-16 index into the original text'),
        end: z.int(),
        score: Share,
        message: z.int().optional().describe('Index into `messages`, in that form'),
      }),
    )
    .optional()
    .describe('With `explain`: each part of the text with its own score'),
  top_terms: z.array(z.object({ feature: z.string(), contribution: z.number() })).optional(),
  threshold: z.number(),
  model: z.object({ id: z.string(), version: z.string(), corpus_digest: z.string() }),
  messages: z
    .array(z.object({ index: z.int(), role: z.string(), ...Verdict, ...Repaired }))
    .optional(),
})
export type GuardAnswer = z.infer<typeof GuardAnswer>

export const guard = {
  checkContent: endpoint('POST /v1/guard', {
    plan: 'open',
    roles: ['ingest', 'approver', 'read'],
    scope: 'guard',
    summary: 'Check texts for prompt injection, secrets and personal data',
    text: 'Checks a text or a conversation for prompt injection, secrets, personal data, invisible characters and canaries. Offsets are UTF-16 indices into the original text. It is a filter, not a security boundary.',
    problems: ['agent_mismatch'],
    body: GuardRequest,
    ok: GuardAnswer,
  }),
}
