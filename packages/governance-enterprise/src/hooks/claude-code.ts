import { createHash } from 'node:crypto'
import type { ClaudeCodeHook } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import type { HostCall } from '@remit/core'

/** A hook about a call of a tool. */
export interface ToolHook extends ClaudeCodeHook {
  readonly tool_name: string
}

const MCP_TOOL = /^mcp__(.+?)__(.+)$/

/**
 * The request for a call of Claude Code: `claude.<tool>`, or that of the MCP gateway for a tool of an MCP
 * server, so that one rule covers both. Pure.
 */
export function callOf(hook: ToolHook, agentId: string | undefined): HostCall {
  const { tool_name: tool, tool_input: args = {}, session_id } = hook
  const [, upstream, name] = MCP_TOOL.exec(tool) ?? []
  const facts = Object.fromEntries(
    ['cwd', 'permission_mode', 'agent_type'].flatMap((member) =>
      typeof hook[member] === 'string' ? [[member, hook[member]]] : [],
    ),
  )
  const context = { args, tool: name ?? tool, session_id, host: 'claude-code', ...facts }
  return upstream === undefined || name === undefined
    ? { agentId, action: `claude.${tool}`, context }
    : {
        agentId,
        action: 'tools/call',
        resource: { type: 'tool', id: name },
        context: { ...context, upstream },
      }
}

/** Keys under which the decision on a call is found again. Pure. */
export function keysOf(
  { session_id, tool_use_id = '', tool_name, tool_input = null }: ToolHook,
  agentId: string,
): { readonly call: string; readonly input: string } {
  return {
    call: hash([agentId, session_id, tool_use_id]),
    input: hash([agentId, session_id, tool_name, tool_input]),
  }
}

const hash = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url')

export const isToolHook = (hook: ClaudeCodeHook): hook is ToolHook => hook.tool_name !== undefined
