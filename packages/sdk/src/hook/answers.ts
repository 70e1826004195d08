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

/**
 * The answer of the server for the host: null for silence, which leaves the decision to the rules of the
 * host. Throws for anything but an answer.
 */
export function checkedAnswer(text: string): string | null {
  let answer: { hookSpecificOutput?: unknown }
  try {
    answer = JSON.parse(text) as typeof answer
  } catch {
    throw new Error('the answer of the server is not JSON')
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new Error('the answer of the server is no object')
  const members = Object.keys(answer)
  if (members.length === 0) return null
  if (members.length > 1 || typeof answer.hookSpecificOutput !== 'object')
    throw new Error('the answer of the server is unknown to this version')
  return JSON.stringify(answer)
}
