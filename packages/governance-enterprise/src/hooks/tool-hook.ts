import { createHash } from 'node:crypto'
import type { ToolHookInput } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import type { HostCall } from '@remit/core'

/** A program whose hooks have the events and members of Claude Code. */
export interface Host {
  /** Also the agent where none is named. */
  readonly name: string
  /** In front of the names of its own tools. */
  readonly prefix: string
}

export const CLAUDE_CODE: Host = { name: 'claude-code', prefix: 'claude.' }
export const CODEX: Host = { name: 'codex', prefix: 'codex.' }

/** A hook about a call of a tool. */
export interface ToolHook extends ToolHookInput {
  readonly tool_name: string
}

/**
 * The request for a call: `claude.<tool>`, or that of the MCP gateway for a tool of an MCP server, so that
 * one rule covers both. Pure.
 */
export function callOf(host: Host, hook: ToolHook, agentId: string): HostCall {
  const { tool_name: tool, tool_input: args = {}, session_id } = hook
  const mcp = mcpTool(hook)
  const facts = Object.fromEntries(
    ['cwd', 'permission_mode', 'agent_type'].flatMap((member) =>
      typeof hook[member] === 'string' ? [[member, hook[member]]] : [],
    ),
  )
  const context = { args, tool: mcp?.name ?? tool, session_id, host: host.name, ...facts }
  if (mcp === null) return { agentId, action: `${host.prefix}${tool}`, context }
  const { name, ...server } = mcp
  return {
    agentId,
    action: 'tools/call',
    resource: { type: 'tool', id: name },
    context: { ...context, ...server },
  }
}

interface McpCall {
  readonly name: string
  readonly upstream: string
  /** The source of the definition of the server, as Claude Code names it. */
  readonly upstream_source?: string
}

const MCP_TOOL = /^mcp__(.+?)__(.+)$/

/** The server and the tool of a call; null for a tool of the host itself. */
function mcpTool({ tool_name: tool, mcp_server: server }: ToolHook): McpCall | null {
  const [, upstream, name] = MCP_TOOL.exec(tool) ?? []
  if (upstream === undefined || name === undefined) return null
  const given = server?.name ?? ''
  // The name of a server may contain the separator, and would hide the name of the tool.
  const prefix = `mcp__${given.replaceAll(/[^\w-]/g, '_')}__`
  if (given === '' || !tool.startsWith(prefix) || tool.length === prefix.length)
    return { name, upstream }
  const { source } = server ?? {}
  return {
    name: tool.slice(prefix.length),
    upstream: given,
    ...(source !== undefined && { upstream_source: source }),
  }
}

/** Keys under which the decision on a call is found again. */
export interface CallKeys {
  readonly call: string
  readonly input: string
}

/** The keys of a call; hosts have sessions of their own. Pure. */
export function keysOf(
  host: Host,
  { session_id, tool_use_id = '', tool_name, tool_input = null }: ToolHook,
  agentId: string,
): CallKeys {
  const session = [host.name, agentId, session_id]
  return {
    call: hash([...session, tool_use_id]),
    input: hash([...session, tool_name, tool_input]),
  }
}

/** The question about a call with its input: another input is another question. Pure. */
export const questionOf = ({ call, input }: CallKeys): string => `${call}.${input}`

const hash = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url')

export const isToolHook = (hook: ToolHookInput): hook is ToolHook => hook.tool_name !== undefined
