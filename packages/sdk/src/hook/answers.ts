/** The event that an input is about; null if it is no hook. */
export function eventOf(input: string): string | null {
  try {
    const { hook_event_name: event } = JSON.parse(input) as { hook_event_name?: unknown }
    return typeof event === 'string' ? event : null
  } catch {
    return null
  }
}

interface Failure {
  readonly output: string | null
  readonly exitCode: number
}

/** The answer of a hook that has no decision: what has not run yet does not run. Pure. */
export function failure(event: string | null, reason: string): Failure {
  const message = `Not executed: Remit could not decide. ${reason}`
  switch (event) {
    // Of all answers to what is no hook, Codex blocks on the exit code 2 alone.
    case null:
      return { output: null, exitCode: 2 }
    case 'PreToolUse':
      return said({
        hookEventName: event,
        permissionDecision: 'deny',
        permissionDecisionReason: message,
      })
    case 'PermissionRequest':
      return said({ hookEventName: event, decision: { behavior: 'deny', message } })
    default:
      return { output: null, exitCode: 1 }
  }
}

const said = (hookSpecificOutput: object): Failure => ({
  output: JSON.stringify({ hookSpecificOutput }),
  exitCode: 0,
})

interface HookOutput {
  readonly permissionDecision?: unknown
  readonly decision?: { readonly behavior?: unknown } | null
}

/**
 * The answer of the server for the host: null for silence, which leaves the decision to the rules of the
 * host. A call needs an explicit allow for it. Throws for anything but an answer. Pure.
 */
export function checkedAnswer(event: string, text: string): string | null {
  let answer: { hookSpecificOutput?: HookOutput | null } | null
  try {
    answer = JSON.parse(text) as typeof answer
  } catch {
    throw new Error('the answer of the server is not JSON')
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new Error('the answer of the server is no object')
  const { hookSpecificOutput: output = {}, ...others } = answer
  if (Object.keys(others).length > 0 || typeof output !== 'object' || output === null)
    throw new Error('the answer of the server is unknown to this version')
  const decision = event === 'PreToolUse' ? output.permissionDecision : output.decision?.behavior
  if (decision === 'deny') return JSON.stringify(answer)
  if (event === 'PreToolUse' && decision !== 'allow')
    throw new Error('the answer of the server has no decision')
  return null
}
