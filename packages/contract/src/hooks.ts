import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { AgentId, wholeNumber } from './primitives.ts'

/** Longest time that a host waits for the answer of a hook. */
export const MAX_HOOK_SECONDS = 120

/** The input of a hook of Claude Code, as its program sends it. Members of other events are ignored. */
export const ClaudeCodeHook = z
  .looseObject({
    hook_event_name: z.string().min(1).max(100),
    session_id: z.string().min(1).max(256),
    tool_name: z.string().min(1).max(256).optional(),
    tool_input: z.unknown().optional(),
    tool_use_id: z.string().min(1).max(256).optional(),
  })
  .meta({ id: 'ClaudeCodeHook' })
export type ClaudeCodeHook = z.infer<typeof ClaudeCodeHook>

/** The answer of a hook; an empty object leaves the decision to the rules of the host. */
export const ClaudeCodeAnswer = z
  .object({
    hookSpecificOutput: z
      .union([
        z.object({
          hookEventName: z.literal('PreToolUse'),
          permissionDecision: z.enum(['allow', 'deny']),
          permissionDecisionReason: z.string(),
        }),
        z.object({
          hookEventName: z.literal('PermissionRequest'),
          decision: z.object({
            behavior: z.enum(['allow', 'deny']),
            message: z.string().optional(),
          }),
        }),
      ])
      .optional(),
  })
  .meta({ id: 'ClaudeCodeAnswer' })
export type ClaudeCodeAnswer = z.infer<typeof ClaudeCodeAnswer>

/** A request of LiteLLM's Generic Guardrail API. */
export const LiteLlmGuardrail = z
  .looseObject({
    input_type: z.enum(['request', 'response']),
    texts: z.array(z.string()).max(1_000).nullish(),
    tool_calls: z
      .array(
        z.looseObject({
          id: z.string().nullish(),
          function: z.looseObject({
            name: z.string().nullish(),
            arguments: z.string().nullish(),
          }),
        }),
      )
      .max(100)
      .nullish(),
    request_data: z.record(z.string(), z.unknown()).nullish(),
    litellm_call_id: z.string().max(256).nullish(),
    additional_provider_specific_params: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: 'LiteLlmGuardrail' })
export type LiteLlmGuardrail = z.infer<typeof LiteLlmGuardrail>

export const LiteLlmAnswer = z
  .object({
    action: z.enum(['NONE', 'BLOCKED', 'GUARDRAIL_INTERVENED']),
    blocked_reason: z.string().optional(),
    texts: z.array(z.string()).optional(),
  })
  .meta({ id: 'LiteLlmAnswer' })
export type LiteLlmAnswer = z.infer<typeof LiteLlmAnswer>

export const hooks = {
  claudeCodeHook: endpoint({
    method: 'POST',
    path: '/v1/hooks/claude-code',
    plan: 'team',
    roles: ['ingest'],
    scope: 'authorize',
    lenient: true,
    summary: 'Answer a hook of Claude Code',
    query: z.strictObject({
      agent_id: AgentId.optional(),
      allow: z.enum(['true', 'false']).default('false'),
      timeout: wholeNumber(3, MAX_HOOK_SECONDS).default(55),
    }),
    body: ClaudeCodeHook,
    ok: ClaudeCodeAnswer,
    status: 200,
    maxSeconds: MAX_HOOK_SECONDS,
  }),
  litellmGuardrail: endpoint({
    method: 'POST',
    path: '/v1/hooks/litellm/beta/litellm_basic_guardrail_api',
    plan: 'open',
    roles: ['ingest'],
    scope: 'guard',
    lenient: true,
    summary: 'Answer a guardrail of LiteLLM',
    body: LiteLlmGuardrail,
    ok: LiteLlmAnswer,
    status: 200,
  }),
}
