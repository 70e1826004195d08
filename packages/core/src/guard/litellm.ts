import { createHash } from 'node:crypto'
import { AgentId, GuardRequest, hooks } from '@remit/contract'
import type { LiteLlmAnswer, LiteLlmGuardrail } from '@remit/contract'
import { parseStrictJson } from '@remit/contract/json'
import { z } from 'zod'
import { actAs, ownAgent } from '../caller/caller.ts'
import type { Caller } from '../caller/caller.ts'
import { checkShape } from '../base/fields.ts'
import { invalid } from '../base/errors.ts'
import { implement } from '../http/endpoint.ts'
import type { ApiRequest, Route } from '../http/endpoint.ts'
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
      litellmGuardrail: async ({ body: sent }, caller, request) => {
        const body = withMode(sent, request.header('remit-mode'))
        const mayReplace = replaces(body.input_type, request.header('remit-redact'))
        const agentId = agentOf(body, caller)
        // The community edition and the free plan have no decisions.
        const tools = caller.plan === 'free' ? undefined : decisions()
        const from = { agentId, caller, request }
        const { denied, warnings } = tools ? await decided(tools, body, from) : UNDECIDED
        if (denied !== null) return blocked(denied)
        const answer = await checkTexts(body.texts ?? [], body.input_type, mayReplace, (text) =>
          check(caller, guardRequest(text, body.input_type, agentId), request),
        )
        return warnings.length > 0 ? { ...answer, warnings } : answer
      },
    },
  )

const MODES = ['pre_call', 'pre_mcp_call']

/**
 * The request with the mode of the header, which only the configuration of LiteLLM sets. Its clients can set the
 * parameters with a license, and so those count for nothing beside it. Without the header, a parameter can only
 * add the decision on a call of an MCP tool: another one may come from a client, in the place of the configured one.
 */
function withMode(body: LiteLlmGuardrail, mode: string | undefined): LiteLlmGuardrail {
  const own = body.additional_provider_specific_params
  if (mode === undefined) {
    if (own?.['mode'] === undefined || own['mode'] === 'pre_mcp_call') return body
    throw invalid(
      'additional_provider_specific_params.mode',
      'must be pre_mcp_call; the header Remit-Mode of the guardrail sets another mode',
    )
  }
  if (!MODES.includes(mode)) throw invalid('Remit-Mode', `must be one of ${MODES.join(', ')}`)
  return { ...body, additional_provider_specific_params: { mode } }
}

const REDACTIONS = ['block', 'replace']

/**
 * Returns whether a text may be replaced. LiteLLM does not say whether a client streams, and gives it the original
 * chunks of a buffered stream after the replacement of a response.
 */
function replaces(type: LiteLlmGuardrail['input_type'], redact = 'block'): boolean {
  if (!REDACTIONS.includes(redact))
    throw invalid('Remit-Redact', `must be one of ${REDACTIONS.join(', ')}`)
  return type === 'request' || redact === 'replace'
}

interface From {
  readonly agentId: string
  readonly caller: Caller
  readonly request: ApiRequest
}

interface Decided {
  /** The message of the first denial; null if everything may go on. */
  readonly denied: string | null
  readonly warnings: string[]
}

const UNDECIDED: Decided = { denied: null, warnings: [] }

async function decided(
  tools: ToolDecisions,
  body: LiteLlmGuardrail,
  { agentId, caller, request }: From,
): Promise<Decided> {
  const options = { maxMs: MAX_WAIT_MS, signal: request.signal() }
  const warned = new Set<string>()
  for (const call of callsOf(body, agentId)) {
    const question = { agentId, ...call, hasClientId: true }
    const { decision, message, warnings = [] } = await tools.decide(caller, question, options)
    if (decision === 'deny') return { denied: `Denied by Remit. ${message}`, warnings: [] }
    for (const warning of warnings) warned.add(warning)
  }
  return { denied: null, warnings: [...warned] }
}

/** Returns the calls to decide: those that a model asks for; before a model, the request itself. Pure. */
function callsOf(body: LiteLlmGuardrail, agentId: string): Call[] {
  const { input_type, tool_calls, request_data, litellm_call_id, texts } = body
  const facts = { host: 'litellm', ...(litellm_call_id && { session_id: litellm_call_id }) }
  // LiteLLM sends a request again when it retries it, and once for each mode of the guardrail.
  const idOf = (...question: unknown[]) =>
    litellm_call_id ? { id: hash([agentId, litellm_call_id, ...question]) } : {}
  const calls = (tool_calls ?? []).map(({ id, function: { name, arguments: args } }, index) => ({
    ...callWith(args ?? '', callOfTool(name, facts)),
    // The id alone is not enough: a model chooses it, and may give it to several calls.
    ...idOf('tool', input_type, index, id, name, args),
  }))
  if (input_type === 'response') return calls
  const model = body.model ?? textIn(request_data ?? {}, 'model')
  const resource = model === null ? {} : { resource: { type: 'model', id: model } }
  const request = { action: 'litellm.request', ...resource, context: facts }
  // A client can choose the id: other texts are another request.
  const own = { ...request, ...idOf('request', model, texts ?? []) }
  const mcpCalls = mcpToolsOf(body).map((tool) => ({
    ...callOfTool(tool, { texts: texts ?? [], ...facts }),
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
  const named = (tools ?? []).map((tool) => {
    const definition = (tool as { function?: { name?: unknown } | null } | null)?.function
    return typeof definition?.name === 'string' ? definition.name : null
  })
  return named.length > 0 ? named : [null]
}

type Call = Omit<HostCall, 'agentId'>

/** A call of a tool; no rule can judge one without a name. */
function callOfTool(name: string | null | undefined, facts: HostCall['context']): Call {
  const tool = name ?? 'unknown'
  const call = {
    action: 'tools/call',
    resource: { type: 'tool', id: tool },
    context: { tool, ...facts },
  }
  return name == null ? { ...call, unmappable: 'The call names no tool.' } : call
}

/** The call with its arguments. The program that runs it may read differently what is no strict JSON object. */
function callWith(text: string, call: Call): Call {
  const withArgs = (args: unknown) => ({ ...call, context: { ...call.context, args } })
  // Of a tool without parameters.
  if (text === '') return withArgs({})
  try {
    const args = parseStrictJson(Buffer.from(text), { refuseNul: true })
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) return withArgs(args)
  } catch {
    // Rules see the text.
  }
  const unmappable = 'The arguments of the call are no JSON object that every parser reads alike.'
  return { unmappable, ...withArgs(text) }
}

const hash = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url')

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
  mayReplace: boolean,
  check: (text: string) => ReturnType<CheckFor>,
): Promise<LiteLlmAnswer> {
  const safe: string[] = []
  let isChanged = false
  for (const text of texts) {
    const { action, reasons, redacted } = await check(text)
    const isKept = action === 'redact' && !mayReplace
    if (action === 'block' || isKept) {
      const hint = isKept ? ' The header Remit-Redact: replace of the guardrail replaces them.' : ''
      return blocked(`The guard of Remit blocks this ${type} (${reasons.join(', ')}).${hint}`)
    }
    isChanged ||= action === 'redact'
    safe.push(action === 'redact' && redacted !== undefined ? redacted : text)
  }
  return isChanged ? { action: 'GUARDRAIL_INTERVENED', texts: safe } : { action: 'NONE' }
}

const blocked = (reason: string): LiteLlmAnswer => ({ action: 'BLOCKED', blocked_reason: reason })
