/** Claude Agent SDK: hooks that block, and `canUseTool`. */
import { canonical } from '@remit/contract/fit'
import type { Json } from '@remit/contract/fit'
import type { ToolCall, Gate } from '../gate.ts'
import type { SelfTestReport } from '../self-test.ts'
import { toolMessage } from '../errors.ts'
import type { Allow, Verdict } from '../errors.ts'

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

type Asked = ToolCall & { readonly callId: string }

const keyOf = ({ tool, input, callId }: Asked): string =>
  canonical([callId, tool, (input ?? null) as Json])

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
  /** By the call and its input: with another input, it is another call. */
  const running = new Map<string, { readonly allow: Allow; isGiven: boolean }>()

  const admit = async (call: Asked): Promise<Verdict> => {
    const verdict = await gate.admit(call)
    if (verdict.kind === 'allow') running.set(keyOf(call), { allow: verdict, isGiven: false })
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
    const key = keyOf({ tool, input: input.tool_input, callId })
    const known = running.get(key)
    running.delete(key)
    if (known) await gate.settle(known.allow, { outcome })
    else await gate.reportGap({ tool, input: null, callId }, outcome).catch(() => undefined)
    return {}
  }

  /** The host asks twice about one call: its hook, then here. Another hook may change the input in between. */
  const canUseTool = async (
    tool: string,
    input: Record<string, unknown>,
    { signal, toolUseID }: { signal: AbortSignal; toolUseID: string },
  ): Promise<Permission> => {
    const call = { tool, input, callId: toolUseID, signal }
    const known = running.get(keyOf(call))
    const isDecided = known?.isGiven === false
    if (isDecided) known.isGiven = true
    const verdict = isDecided ? known.allow : await admit(call)
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
