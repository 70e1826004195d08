/** Claude Agent SDK: hooks that block, and `canUseTool`. */
import type { ToolCall, Gate } from '../gate.ts'
import type { SelfTestReport } from '../self-test.ts'
import { toolMessage } from '../verdict.ts'
import type { Allow, Verdict } from '../verdict.ts'

interface ToolHookInput {
  readonly hook_event_name: string
  readonly tool_name?: string
  readonly tool_input?: unknown
  readonly tool_use_id?: string
}

interface HookOutput {
  hookSpecificOutput?: {
    hookEventName: 'PreToolUse'
    permissionDecision: 'allow' | 'deny'
    permissionDecisionReason: string
  }
}

interface Matcher {
  hooks: ((
    input: ToolHookInput,
    toolUseID: string | undefined,
    options: { signal: AbortSignal },
  ) => Promise<HookOutput>)[]
  timeout?: number
  onFailure?: 'block'
}

type Permission =
  | { behavior: 'allow'; updatedInput: Record<string, unknown> }
  | { behavior: 'deny'; message: string }

/** Calls that run, until the host reports how they ended. */
const MAX_RUNNING = 1_000
const SECONDS = 300

/**
 * Options for `query`: hooks that decide before every tool, and settle after it.
 *
 * @example
 * for await (const message of query({ prompt, options: claudeAgent(gate) })) …
 */
export function claudeAgent(gate: Gate) {
  const running = new Map<string, { readonly allow: Allow; readonly text: string }>()

  /** The host asks twice about one call: its hook, then `canUseTool`. */
  const admit = async (call: ToolCall & { readonly callId: string }): Promise<Verdict> => {
    const known = running.get(call.callId)
    const text = JSON.stringify([call.tool, call.input])
    // Another hook may have changed the input in between; that is another question.
    if (known?.text === text) return known.allow
    const verdict = await gate.admit(call)
    if (verdict.kind === 'allow') running.set(call.callId, { allow: verdict, text })
    for (const oldest of running.keys()) {
      if (running.size <= MAX_RUNNING) break
      running.delete(oldest)
    }
    return verdict
  }

  const before: Matcher['hooks'][number] = async (input, _, { signal }) => {
    const { tool_name: tool, tool_use_id: callId } = input
    if (tool === undefined || callId === undefined) return denied('the host named no tool call')
    const verdict = await admit({ tool, input: input.tool_input, callId, signal })
    // Silence lets the host's own permission rules decide as well.
    return verdict.kind === 'allow' ? {} : denied(toolMessage(verdict))
  }

  const after: Matcher['hooks'][number] = async (input) => {
    const { tool_name: tool = '', tool_use_id: callId = '', hook_event_name: event } = input
    const outcome = event === 'PostToolUse' ? 'success' : 'failure'
    const known = running.get(callId)
    running.delete(callId)
    if (known) await gate.settle(known.allow, { outcome })
    else await gate.reportGap({ tool, input: null, callId }, outcome).catch(() => undefined)
    return {}
  }

  const canUseTool = async (
    tool: string,
    input: Record<string, unknown>,
    { signal, toolUseID }: { signal: AbortSignal; toolUseID: string },
  ): Promise<Permission> => {
    const verdict = await admit({ tool, input, callId: toolUseID, signal })
    return verdict.kind === 'allow'
      ? { behavior: 'allow', updatedInput: input }
      : { behavior: 'deny', message: toolMessage(verdict) }
  }

  return {
    canUseTool,
    hooks: {
      // A hook that throws, or answers too late, blocks the call.
      PreToolUse: [{ hooks: [before], timeout: SECONDS, onFailure: 'block' as const }],
      PostToolUse: [{ hooks: [after] }],
      PostToolUseFailure: [{ hooks: [after] }],
    },
  }
}

const denied = (reason: string): HookOutput => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: reason,
  },
})

/**
 * Drives the canary through the hooks as the host calls them: before, run, after. The host's program itself
 * is not started.
 */
export const selfTest = (gate: Gate): Promise<SelfTestReport> =>
  gate.selfTest(async (tested, { name, callId, run }) => {
    const { hooks } = claudeAgent(tested)
    const input = { tool_name: name, tool_input: {}, tool_use_id: callId }
    const options = { signal: new AbortController().signal }
    for (const { hooks: callbacks } of hooks.PreToolUse)
      for (const hook of callbacks) {
        const asked = { ...input, hook_event_name: 'PreToolUse' }
        const { hookSpecificOutput: answered } = await hook(asked, callId, options)
        if (answered?.permissionDecision === 'deny') return answered.permissionDecisionReason
      }
    const result = run()
    for (const { hooks: callbacks } of hooks.PostToolUse)
      for (const hook of callbacks)
        await hook({ ...input, hook_event_name: 'PostToolUse' }, callId, options)
    return result
  })
