import { createHash } from 'node:crypto'
import { AgentId, GuardRequest, hooks } from '@remit/contract'
import type { LiteLlmAnswer, LiteLlmGuardrail } from '@remit/contract'
import { parseStrictJson } from '@remit/contract/json'
import { z } from 'zod'
import { actAs, ownAgent } from '../caller/caller.ts'
import type { Caller } from '../caller/caller.ts'
import { checkShape } from '../base/check-shape.ts'
import { implement } from '../http/implement.ts'
import type { RequestInfo, Route } from '../http/implement.ts'
import type { HostCall, ToolDecisions } from '../authorize/tool-decisions.ts'
import type { CheckFor } from './routes.ts'

/** LiteLLM waits no longer for a guardrail by default. */
const MAX_WAIT_MS = 5_000
const DEFAULT_AGENT = 'litellm'

/**
 * LiteLLM's Generic Guardrail API: the guard on texts, and decisions on tool calls and requests where the
 * server has them.
 */
export const litellmRoutes = (
  check: CheckFor,
  decisions: () => ToolDecisions | undefined,
): Route[] =>
  implement(
    { litellmGuardrail: hooks.litellmGuardrail },
    {
      litellmGuardrail: async ({ body }, caller, request) => {
        const agentId = agentOf(body, caller)
        // The community edition and the free plan have no decisions.
        const tools = caller.plan === 'free' ? undefined : decisions()
        const denied = tools ? await deniedBy(tools, body, { agentId, caller, request }) : null
        if (denied !== null) return blocked(denied)
        return checkTexts(body.texts ?? [], body.input_type, (text) =>
          check(caller, guardRequest(text, body.input_type, agentId), request),
        )
      },
    },
  )

interface From {
  readonly agentId: string
  readonly caller: Caller
  readonly request: RequestInfo
}

/** The message of the first denial; null if everything may go on. */
async function deniedBy(
  tools: ToolDecisions,
  body: LiteLlmGuardrail,
  { agentId, caller, request }: From,
): Promise<string | null> {
  const options = { maxMs: MAX_WAIT_MS, signal: request.signal() }
  for (const call of callsOf(body, agentId)) {
    const { decision, message } = await tools.decide(caller, { agentId, ...call }, options)
    if (decision === 'deny') return `Denied by Remit. ${message}`
  }
  return null
}

/** Returns the calls to decide: those that a model asks for; before a model, the request itself. Pure. */
function callsOf(body: LiteLlmGuardrail, agentId: string): Omit<HostCall, 'agentId'>[] {
  const { input_type, tool_calls, request_data, litellm_call_id, texts } = body
  const facts = { host: 'litellm', ...(litellm_call_id && { session_id: litellm_call_id }) }
  // LiteLLM sends a request again when it retries it, and once for each mode of the guardrail.
  const idOf = (...question: unknown[]) =>
    litellm_call_id ? { id: hash([agentId, litellm_call_id, ...question]) } : {}
  const calls = (tool_calls ?? []).map(({ id, function: { name, arguments: args } }, index) => ({
    action: 'tools/call',
    resource: { type: 'tool', id: name ?? 'unknown' },
    context: { args: parsed(args ?? ''), tool: name ?? 'unknown', ...facts },
    // The id alone is not enough: a model chooses it, and may give it to several calls.
    ...idOf('tool', input_type, index, id, name, args),
  }))
  if (input_type === 'response') return calls
  const model = textIn(request_data ?? {}, 'model')
  const resource = model === null ? {} : { resource: { type: 'model', id: model } }
  const request = { action: 'litellm.request', ...resource, context: facts }
  // A client can choose the id: other texts are another request.
  const own = { ...request, ...idOf('request', model, texts ?? []) }
  const mcpCalls = mcpToolsOf(body).map((tool) => ({
    action: 'tools/call',
    resource: { type: 'tool', id: tool },
    context: { texts: texts ?? [], tool, ...facts },
    ...idOf('mcp', tool, texts ?? []),
  }))
  return [own, ...mcpCalls, ...calls]
}

/**
 * The MCP tool that LiteLLM is about to call: it sends its definition in the place of a call, and the texts of the
 * arguments. Nothing else tells it from the tools of a model, so that the guardrail's configuration has to. Pure.
 */
function mcpToolsOf({ tools, additional_provider_specific_params: own }: LiteLlmGuardrail) {
  if (own?.['mode'] !== 'pre_mcp_call') return []
  return (tools ?? []).map((tool) => {
    const definition = (tool as { function?: { name?: unknown } | null } | null)?.function
    return typeof definition?.name === 'string' ? definition.name : 'unknown'
  })
}

const hash = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url')

/** Arguments of a model may be no JSON, or mean something else to another reader: a rule sees those as text. */
function parsed(args: string): unknown {
  try {
    return parseStrictJson(Buffer.from(args), { refuseNul: true })
  } catch {
    return args
  }
}

type Members = Readonly<Record<string, unknown>>

function textIn(members: Members, name: string): string | null {
  const value = members[name]
  return typeof value === 'string' && value !== '' ? value : null
}

const OfAgent = z.object({ agent_id: AgentId })

/** The agent of the guardrail's configuration, of the credential, or of the virtual key. */
function agentOf(
  { additional_provider_specific_params: own, request_data: data }: LiteLlmGuardrail,
  caller: Caller,
): string {
  const named = textIn(own ?? {}, 'agent_id')
  const { agent_id } = checkShape(OfAgent, {
    agent_id:
      named ??
      ownAgent(caller) ??
      textIn(data ?? {}, 'user_api_key_alias') ??
      textIn(data ?? {}, 'user_api_key_hash') ??
      DEFAULT_AGENT,
  })
  if (named !== null) actAs(caller, agent_id)
  return agent_id
}

function guardRequest(
  content: string,
  type: LiteLlmGuardrail['input_type'],
  agentId: string,
): GuardRequest {
  const direction = type === 'request' ? 'input' : 'output'
  return checkShape(GuardRequest, { content, direction, source: 'user', agent_id: agentId })
}

async function checkTexts(
  texts: readonly string[],
  type: LiteLlmGuardrail['input_type'],
  check: (text: string) => ReturnType<CheckFor>,
): Promise<LiteLlmAnswer> {
  const safe: string[] = []
  let isChanged = false
  for (const text of texts) {
    const { action, reasons, redacted } = await check(text)
    if (action === 'block')
      return blocked(`The guard of Remit blocks this ${type} (${reasons.join(', ')}).`)
    isChanged ||= action === 'redact'
    safe.push(action === 'redact' && redacted !== undefined ? redacted : text)
  }
  return isChanged ? { action: 'GUARDRAIL_INTERVENED', texts: safe } : { action: 'NONE' }
}

const blocked = (reason: string): LiteLlmAnswer => ({ action: 'BLOCKED', blocked_reason: reason })
