import { hooks } from '@remit/contract'
import type { ClaudeCodeAnswer } from '@remit/contract'
import { actAs, implement, invalid, isoTime, ownAgent } from '@remit/core'
import type { Caller, Deps, Route, ToolDecisions } from '@remit/core'
import type { Append } from '../ledger/appender.ts'
import { callOf, isToolHook, keysOf } from './claude-code.ts'
import type { ToolHook } from './claude-code.ts'
import { UNCLAIMED } from './tool-decisions.ts'
import { findCall, forgetCalls, putCall, takeCall } from './store.ts'

/** Before the time-out of the host: an answer that comes too late is a failure of the hook. */
const MARGIN_MS = 2_000
const KEPT_MS = 24 * 3_600_000
const SWEEP_MS = 3_600_000

interface Asked {
  readonly caller: Caller
  readonly agent: string
  readonly hook: ToolHook
}

/** Hooks of agent hosts, over the same decisions and the same ledger. */
export function hookRoutes(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  tools: ToolDecisions,
  append: Append,
): Route[] {
  let sweptAt = 0
  const sweep = async (now: number): Promise<void> => {
    if (now - sweptAt < SWEEP_MS) return
    sweptAt = now
    await forgetCalls(db, isoTime(now - KEPT_MS))
  }

  const decide = async (
    { caller, agent, hook }: Asked,
    options: { readonly allows: boolean; readonly maxMs: number; readonly signal: AbortSignal },
  ): Promise<ClaudeCodeAnswer> => {
    if (hook.tool_use_id === undefined) throw invalid('tool_use_id', 'is required')
    const { call, input } = keysOf(hook, agent)
    const known = await findCall(db, caller.orgId, { call })
    // Hosts have several hooks for one call, and repeat one: that is one decision.
    if (known?.input_key === input && known.decision === 'allow')
      return preToolUse('allow', known.message, options.allows)
    const made = await tools.decide(caller, callOf(hook, agent), options)
    await sweep(clock.now())
    await putCall(db, {
      org_id: caller.orgId,
      call_key: call,
      input_key: input,
      decision_id: made.decisionId,
      decision: made.decision,
      message: made.message,
      created_at: isoTime(clock.now()),
    })
    return preToolUse(made.decision, made.message, options.allows)
  }

  /** The prompt is about a call that was decided before; the host does not name it. */
  const permit = async (
    { caller, agent, hook }: Asked,
    allows: boolean,
  ): Promise<ClaudeCodeAnswer> => {
    const known = await findCall(db, caller.orgId, { input: keysOf(hook, agent).input })
    if (!known) return {}
    if (known.decision === 'deny')
      return permission({ behavior: 'deny', message: deniedText(known.message) })
    return allows ? permission({ behavior: 'allow' }) : {}
  }

  /** Settles the decision of a call that ran, or records that it had none. */
  const settle = async ({ caller, agent, hook }: Asked, isSuccess: boolean): Promise<void> => {
    if (hook.tool_use_id === undefined) throw invalid('tool_use_id', 'is required')
    const { call, input } = keysOf(hook, agent)
    const known = await findCall(db, caller.orgId, { call })
    if (known && !(await takeCall(db, caller.orgId, call))) return
    const { action, resource } = callOf(hook, agent)
    const outcome = isSuccess ? 'success' : 'failure'
    const entry = {
      action,
      agent_id: agent,
      outcome,
      ...(resource !== undefined && { resource }),
      metadata: { call_id: hook.tool_use_id, session_id: hook.session_id },
    } as const
    // Another input than the decided one ran without a decision.
    const isDecided = known !== undefined && known.input_key === input
    const ending = isSuccess && known?.decision === 'allow' ? { settle: 'held' as const } : {}
    const link = isDecided ? { decision_id: known.decision_id, ...ending } : { decision_id: null }
    await append(caller, { ...entry, ...link }, UNCLAIMED)
  }

  return implement(
    { claudeCodeHook: hooks.claudeCodeHook },
    {
      claudeCodeHook: async ({ body, query }, caller, request) => {
        actAs(caller, query.agent_id)
        if (!isToolHook(body)) return {}
        const agent = ownAgent(caller) ?? query.agent_id ?? 'claude-code'
        const asked = { caller, agent, hook: body }
        const allows = query.allow === 'true'
        switch (body.hook_event_name) {
          case 'PreToolUse': {
            const maxMs = query.timeout * 1000 - MARGIN_MS
            return decide(asked, { allows, maxMs, signal: request.signal() })
          }
          case 'PermissionRequest':
            return permit(asked, allows)
          case 'PostToolUse':
          case 'PostToolUseFailure':
            await settle(asked, body.hook_event_name === 'PostToolUse')
            return {}
          default:
            return {}
        }
      },
    },
  )
}

/** Silence lets the permission rules of the host decide as well. */
const preToolUse = (
  decision: 'allow' | 'deny',
  message: string,
  allows: boolean,
): ClaudeCodeAnswer =>
  decision === 'allow' && !allows
    ? {}
    : {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: decision,
          permissionDecisionReason: decision === 'deny' ? deniedText(message) : message,
        },
      }

const permission = (decision: {
  behavior: 'allow' | 'deny'
  message?: string
}): ClaudeCodeAnswer => ({
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
})

const deniedText = (message: string): string => `Not executed: denied by Remit. ${message}`
