/** Fields of hooks, the MCP gateway and the inventory. */
export const hostFields = {
  // Hooks
  hook_event_name: 'Name of the event, such as `PreToolUse`.',
  'ToolHookInput.session_id': 'Session of the host: the run of the decisions.',
  tool_name: 'Name of the tool, as the host has it.',
  tool_input: 'Arguments of the call.',
  tool_use_id: 'Identifier of the call.',
  mcp_server: 'The MCP server of the tool, as the host names it.',
  'mcp_server.name': 'Name of the server in the configuration of the host.',
  'mcp_server.source': 'Place of its definition, such as `user`, `project` or `plugin`.',
  allow: '`true`: an allow skips the permission rules of the host. Else they decide as well.',
  timeout: 'Seconds after which the host gives up. The answer comes two seconds earlier.',
  hookSpecificOutput: 'Decision for the host.',
  hookEventName: 'Name of the event.',
  permissionDecision: 'Decision on the call.',
  permissionDecisionReason: 'Reason, which the model reads.',
  'hookSpecificOutput.decision': 'Answer to the permission prompt.',
  behavior: 'Decision on the call.',
  'decision.message': 'Reason, which the model reads.',

  // LiteLLM
  input_type: '`request` before the model, `response` after it.',
  texts: 'Texts to check; in a response, the texts to use instead.',
  'LiteLlmGuardrail.tools':
    'Definitions of tools. Where the guardrail has the parameter `mode: pre_mcp_call`, the MCP tool that is called.',
  'tool_calls.id': 'Identifier of the call.',
  function: 'Function and arguments of the call.',
  'function.name': 'Name of the function.',
  'function.arguments': 'Arguments as JSON text.',
  request_data: 'Facts about the caller, such as `user_api_key_alias`.',
  litellm_call_id: 'Identifier of the call of LiteLLM.',
  'LiteLlmGuardrail.model': 'The model that is called: the resource of the request.',
  additional_provider_specific_params:
    'Parameters of the guardrail in the configuration of LiteLLM.',
  'LiteLlmAnswer.action': '`BLOCKED` stops the request; `GUARDRAIL_INTERVENED` replaces its texts.',
  blocked_reason: 'Reason of the block.',

  // MCP
  'McpToolDefinition.name': 'Name of the tool.',
  'McpToolDefinition.description': 'Description, which a model reads.',
  'McpTool.name': 'Name of the tool.',
  'McpToolStatus.name': 'Name of the tool.',
  definition: 'The definition that was reported last.',
  changes: 'Differences from the admitted definition.',
  'changes.member': 'Member of the definition.',
  'changes.before': 'JSON of the admitted member; null if there was none.',
  'changes.after': 'JSON of the member now; null if there is none.',
  'McpTool.state': 'Only an `admitted` tool can be called through the gateway.',
  'McpToolStatus.state': 'State of this definition.',
  'listMcpTools.state': 'State of the tools.',
  upstream: 'Name of the MCP server in the configuration of the gateway.',
  tools: 'Definitions of the tools.',
  first_seen_at: 'Time of the first report.',
  changed_at: 'Time at which the definition changed last.',

  // Inventory
  items: 'Findings in configuration files.',
  reported_at: 'Time of the report.',
} as const
