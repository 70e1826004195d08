import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { AgentId, component, wholeNumber } from './primitives.ts'

/** Longest time that a host waits for the answer of a hook. */
export const MAX_HOOK_SECONDS = 120

/** The input of a hook of Claude Code or Codex, as the host sends it. Members of other events are ignored. */
export const ToolHookInput = z
  .looseObject({
    hook_event_name: z.string().min(1).max(100),
    session_id: z.string().min(1).max(256),
    tool_name: z.string().min(1).max(256).optional(),
    tool_input: z.unknown().optional(),
    tool_use_id: z.string().min(1).max(256).optional(),
    mcp_server: z
      .looseObject({ name: z.string().max(256), source: z.string().max(100).optional() })
      .optional(),
  })
  .meta({ id: 'ToolHookInput' })
export type ToolHookInput = z.infer<typeof ToolHookInput>

/** The answer of a hook; an empty object leaves the decision to the rules of the host. */
export const ToolHookAnswer = component('ToolHookAnswer', {
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
export type ToolHookAnswer = z.infer<typeof ToolHookAnswer>

/** A request of LiteLLM's Generic Guardrail API. */
export const LiteLlmGuardrail = z
  .looseObject({
    input_type: z.enum(['request', 'response']),
    texts: z.array(z.string()).max(1_000).nullish(),
    tools: z.array(z.unknown()).max(1_000).nullish(),
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
    model: z.string().max(256).nullish(),
    additional_provider_specific_params: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: 'LiteLlmGuardrail' })
export type LiteLlmGuardrail = z.infer<typeof LiteLlmGuardrail>

export const LiteLlmAnswer = component('LiteLlmAnswer', {
  action: z.enum(['NONE', 'BLOCKED', 'GUARDRAIL_INTERVENED']),
  blocked_reason: z.string().optional(),
  texts: z.array(z.string()).optional(),
  warnings: z.array(z.string()).optional(),
})
export type LiteLlmAnswer = z.infer<typeof LiteLlmAnswer>

const deciding = {
  plan: 'team',
  roles: ['ingest'],
  scope: 'authorize',
  lenient: true,
  body: ToolHookInput,
  ok: ToolHookAnswer,
  status: 200,
  maxSeconds: MAX_HOOK_SECONDS,
} as const

const query = {
  agent_id: AgentId.optional(),
  timeout: wholeNumber(3, MAX_HOOK_SECONDS).default(55),
  allow: z.enum(['true', 'false']).default('false'),
}

export const hooks = {
  claudeCodeHook: endpoint('POST /v1/hooks/claude-code', {
    ...deciding,
    summary: 'Answer a hook of Claude Code',
    text: 'Takes the input of a hook of Claude Code and returns its output. `PreToolUse` is decided, `PermissionRequest` gets the decision of its call, `PostToolUse` and `PostToolUseFailure` report the outcome. Other events get an empty object. An error is never 200, so that a hook with `onFailure: "block"` blocks.',
    problems: ['agent_mismatch', 'quota_exceeded'],
    query: z.strictObject(query),
  }),
  codexHook: endpoint('POST /v1/hooks/codex', {
    ...deciding,
    summary: 'Answer a hook of Codex',
    text: 'Takes the input of a hook of Codex and returns its output, as `POST /v1/hooks/claude-code` does. Codex runs commands as hooks, so `remit-sdk hook codex` calls this endpoint.',
    problems: ['agent_mismatch', 'quota_exceeded'],
    query: z.strictObject(query),
  }),
  litellmGuardrail: endpoint('POST /v1/hooks/litellm/beta/litellm_basic_guardrail_api', {
    plan: 'open',
    roles: ['ingest'],
    scope: 'guard',
    lenient: true,
    summary: 'Answer a guardrail of LiteLLM',
    text: 'Implements the Generic Guardrail API of LiteLLM. The guard checks the texts; tool calls are decided where the plan of the organization has decisions.',
    problems: ['agent_mismatch', 'quota_exceeded'],
    takes: ['Remit-Mode', 'Remit-Redact'],
    body: LiteLlmGuardrail,
    ok: LiteLlmAnswer,
  }),
}
