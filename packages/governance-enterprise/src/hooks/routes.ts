import { hooks } from '@remit/contract'
import type { ToolHookAnswer, ToolHookInput } from '@remit/contract'
import { invalid } from '@remit/core/base'
import { actAs, ownAgent } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement } from '@remit/core/http'
import type { ApiRequest, Route } from '@remit/core/http'
import type { HostCalls } from './calls.ts'
import { CLAUDE_CODE, CODEX, isToolHook } from './tool-hook.ts'
import type { Host } from './tool-hook.ts'

/** Before the time-out of the host: an answer that comes too late is a failure of the hook. */
const MARGIN_MS = 2_000

/** Silence about these would leave a call to the host alone. */
const OF_TOOLS: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'PostToolUseFailure',
])

interface HookQuery {
  readonly agent_id?: string | undefined
  readonly timeout: number
  readonly allow: 'true' | 'false'
}

/** Hooks of agent hosts, over the same decisions and the same ledger. */
export function hookRoutes(calls: HostCalls): Route[] {
  const answer = async (
    host: Host,
    { body, query }: { readonly body: ToolHookInput; readonly query: HookQuery },
    caller: Caller,
    request: ApiRequest,
  ): Promise<ToolHookAnswer> => {
    actAs(caller, query.agent_id)
    if (!isToolHook(body)) {
      if (OF_TOOLS.has(body.hook_event_name)) throw invalid('tool_name', 'is required')
      return {}
    }
    const agent = ownAgent(caller) ?? query.agent_id ?? host.name
    const asked = { caller, agent, host, hook: body }
    const options = {
      allows: query.allow === 'true',
      maxMs: query.timeout * 1000 - MARGIN_MS,
      signal: request.signal(),
    }
    switch (body.hook_event_name) {
      case 'PreToolUse':
        return calls.decide(asked, options)
      case 'PermissionRequest':
        return calls.permit(asked, options)
      case 'PostToolUse':
      case 'PostToolUseFailure':
        await calls.settle(asked, body.hook_event_name === 'PostToolUse')
        return {}
      default:
        return {}
    }
  }

  const { claudeCodeHook, codexHook } = hooks
  return implement(
    { claudeCodeHook, codexHook },
    {
      claudeCodeHook: (input, caller, request) => answer(CLAUDE_CODE, input, caller, request),
      codexHook: (input, caller, request) => answer(CODEX, input, caller, request),
    },
  )
}
