import type { OperationText } from './operation-text.ts'

/** Endpoints that agent hosts and the MCP gateway call. */
export const hostOperations = {
  claudeCodeHook: {
    text: 'Takes the input of a hook of Claude Code and returns its output. `PreToolUse` is decided, `PermissionRequest` gets the decision of its call, `PostToolUse` and `PostToolUseFailure` report the outcome. Other events get an empty object. An error is never 200, so that a hook with `onFailure: "block"` blocks.',
    problems: ['agent_mismatch', 'quota_exceeded'],
  },
  codexHook: {
    text: 'Takes the input of a hook of Codex and returns its output, as `POST /v1/hooks/claude-code` does. Codex runs commands as hooks, so `remit-sdk hook codex` calls this endpoint.',
    problems: ['agent_mismatch', 'quota_exceeded'],
  },
  litellmGuardrail: {
    text: 'Implements the Generic Guardrail API of LiteLLM. The guard checks the texts; tool calls are decided where the plan of the organization has decisions.',
    problems: ['agent_mismatch', 'quota_exceeded'],
  },
  listMcpTools: {
    text: 'Lists the tools of MCP servers with their definitions, oldest first. Filters combine.',
  },
  reportMcpTools: {
    text: 'Reports what `tools/list` of a server returned. A new tool waits for an administrator, unless the server had none and `trust` is `first-use`. A changed definition withdraws the tool until it is admitted again. A definition that the guard scores 0.99 or higher is never admitted by a report.',
    problems: ['too_many_mcp_tools'],
  },
  admitMcpTool: {
    text: 'Admits the definition with this digest. The gateway lets calls pass within 30 seconds. `mapping: "declared"` pins the mapping that the definition declares in `x-authzen-mapping` (AuthZEN binding for MCP): action and resource of its calls come from there, unless the configuration of the gateway has a mapping. A later definition needs a new admission.',
    problems: ['mcp_tool_not_found', 'mcp_tool_changed'],
  },
  reviewMcpTool: {
    text: 'Records that an administrator looked at the findings of the guard in the definition with this digest and found them harmless. It admits nothing, and a later definition needs a new review.',
    problems: ['mcp_tool_not_found', 'mcp_tool_changed'],
  },
  withdrawMcpTool: {
    text: 'Withdraws a tool. The gateway refuses its calls within 30 seconds.',
    problems: ['mcp_tool_not_found'],
  },
  listInventory: {
    text: 'Lists what `remit discover` reported last for each host.',
  },
  reportInventory: {
    text: 'Keeps what `remit discover` found on a host, in the place of an earlier report, and records it.',
    problems: ['too_many_hosts'],
  },
} satisfies Record<string, OperationText>
