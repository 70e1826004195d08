import type { HookEvent, HookInput } from '@anthropic-ai/claude-agent-sdk'

const BASE = {
  session_id: 'events',
  transcript_path: '/home/ada/.claude/t.jsonl',
  cwd: '/src',
  permission_mode: 'default',
  effort: { level: 'high' },
}
/** A call that the policy of the test denies. */
const TOOL = { tool_name: 'Bash', tool_input: { command: 'rm -rf /' } }
const CALL = { ...TOOL, tool_use_id: 'toolu_events' }
const SWITCH = {
  from_model: 'a',
  to_model: 'b',
  requested_model: null,
  source: 'command',
  context_tokens: 1,
  prompt_cache_warm: true,
  cache_ttl: '5m',
  estimated_cache_write_usd: 0.01,
  pricing: 'catalog',
} as const
const IDLE = { teammate_name: 'y', team_name: 'z' }
const TASK = { task_id: '1', task_subject: 'x', ...IDLE }

type Inputs = { readonly [E in HookEvent]: Extract<HookInput, { hook_event_name: E }> }

/** One input of each event, complete by the types of the SDK. */
export const INPUTS: Inputs = {
  PreToolUse: { ...BASE, ...CALL, hook_event_name: 'PreToolUse' },
  PostToolUse: {
    ...BASE,
    ...CALL,
    tool_use_id: 'toolu_ran',
    hook_event_name: 'PostToolUse',
    tool_response: {},
  },
  PostToolUseFailure: {
    ...BASE,
    ...CALL,
    tool_use_id: 'toolu_failed',
    hook_event_name: 'PostToolUseFailure',
    error: 'no',
    is_interrupt: false,
  },
  PostToolBatch: { ...BASE, hook_event_name: 'PostToolBatch', tool_calls: [CALL] },
  PermissionDenied: { ...BASE, ...CALL, hook_event_name: 'PermissionDenied', reason: 'x' },
  Notification: {
    ...BASE,
    hook_event_name: 'Notification',
    message: 'x',
    notification_type: 'idle_prompt',
  },
  UserPromptSubmit: { ...BASE, hook_event_name: 'UserPromptSubmit', prompt: 'x', source: 'user' },
  UserPromptExpansion: {
    ...BASE,
    hook_event_name: 'UserPromptExpansion',
    expansion_type: 'slash_command',
    command_name: 'x',
    command_args: '',
    prompt: '/x',
  },
  SessionStart: { ...BASE, hook_event_name: 'SessionStart', source: 'startup', model: 'x' },
  SessionEnd: { ...BASE, hook_event_name: 'SessionEnd', reason: 'other' },
  Stop: { ...BASE, hook_event_name: 'Stop', stop_hook_active: false },
  StopFailure: { ...BASE, hook_event_name: 'StopFailure', error: 'unknown' },
  SubagentStart: { ...BASE, hook_event_name: 'SubagentStart', agent_id: '1', agent_type: 'x' },
  SubagentStop: {
    ...BASE,
    hook_event_name: 'SubagentStop',
    stop_hook_active: false,
    agent_id: '1',
    agent_transcript_path: '/t',
    agent_type: 'x',
  },
  PreCompact: {
    ...BASE,
    hook_event_name: 'PreCompact',
    trigger: 'auto',
    custom_instructions: null,
  },
  PostCompact: { ...BASE, hook_event_name: 'PostCompact', trigger: 'auto', compact_summary: 'x' },
  PreModelSwitch: { ...BASE, ...SWITCH, hook_event_name: 'PreModelSwitch' },
  PostModelSwitch: { ...BASE, ...SWITCH, hook_event_name: 'PostModelSwitch' },
  PermissionRequest: { ...BASE, ...TOOL, hook_event_name: 'PermissionRequest' },
  Setup: { ...BASE, hook_event_name: 'Setup', trigger: 'init' },
  TeammateIdle: { ...BASE, ...IDLE, hook_event_name: 'TeammateIdle' },
  TaskCreated: { ...BASE, ...TASK, hook_event_name: 'TaskCreated' },
  TaskCompleted: { ...BASE, ...TASK, hook_event_name: 'TaskCompleted' },
  Elicitation: { ...BASE, hook_event_name: 'Elicitation', mcp_server_name: 'x', message: 'y' },
  ElicitationResult: {
    ...BASE,
    hook_event_name: 'ElicitationResult',
    mcp_server_name: 'x',
    action: 'decline',
  },
  ConfigChange: { ...BASE, hook_event_name: 'ConfigChange', source: 'user_settings' },
  InstructionsLoaded: {
    ...BASE,
    hook_event_name: 'InstructionsLoaded',
    file_path: '/src/CLAUDE.md',
    memory_type: 'Project',
    load_reason: 'session_start',
  },
  WorktreeCreate: { ...BASE, hook_event_name: 'WorktreeCreate', name: 'x' },
  WorktreeRemove: { ...BASE, hook_event_name: 'WorktreeRemove', worktree_path: '/w' },
  CwdChanged: { ...BASE, hook_event_name: 'CwdChanged', old_cwd: '/a', new_cwd: '/b' },
  FileChanged: { ...BASE, hook_event_name: 'FileChanged', file_path: '/a', event: 'change' },
  DirectoryAdded: {
    ...BASE,
    hook_event_name: 'DirectoryAdded',
    directory: '/a',
    source: 'slash_command',
  },
  MessageDisplay: {
    ...BASE,
    hook_event_name: 'MessageDisplay',
    turn_id: '1',
    message_id: '2',
    index: 0,
    final: true,
    delta: 'x',
  },
}
