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

const MCP_TOOL = /^mcp__(.+?)__(.+)$/

/**
 * The request for a call: `claude.<tool>`, or that of the MCP gateway for a tool of an MCP server, so that
 * one rule covers both. Pure.
 */
export function callOf(host: Host, hook: ToolHook, agentId: string): HostCall {
  const { tool_name: tool, tool_input: args = {}, session_id } = hook
  const [, upstream, name] = MCP_TOOL.exec(tool) ?? []
  const facts = Object.fromEntries(
    ['cwd', 'permission_mode', 'agent_type'].flatMap((member) =>
      typeof hook[member] === 'string' ? [[member, hook[member]]] : [],
    ),
  )
  const context = { args, tool: name ?? tool, session_id, host: host.name, ...facts }
  return upstream === undefined || name === undefined
    ? { agentId, action: `${host.prefix}${tool}`, context }
    : {
        agentId,
        action: 'tools/call',
        resource: { type: 'tool', id: name },
        context: { ...context, upstream },
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
