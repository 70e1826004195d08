import type { ToolHookAnswer } from '@remit/contract'

/** The answer to `PreToolUse`. Silence lets the permission rules of the host decide as well. */
export const preToolUse = (
  decision: 'allow' | 'deny',
  message: string,
  allows: boolean,
): ToolHookAnswer => {
  if (decision === 'deny') return deniedByHook(message)
  return allows ? decided('allow', message) : {}
}

/** The denial of a call, with a text for the model. */
export const deniedByHook = (message: string): ToolHookAnswer =>
  decided('deny', deniedText(message))

/** The answer to a permission prompt. */
export const permission = (behavior: 'allow' | 'deny', message?: string): ToolHookAnswer => ({
  hookSpecificOutput: {
    hookEventName: 'PermissionRequest',
    decision: { behavior, ...(message !== undefined && { message: deniedText(message) }) },
  },
})

const decided = (
  permissionDecision: 'allow' | 'deny',
  permissionDecisionReason: string,
): ToolHookAnswer => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision,
    permissionDecisionReason,
  },
})

const deniedText = (message: string): string => `Not executed: denied by Remit. ${message}`
