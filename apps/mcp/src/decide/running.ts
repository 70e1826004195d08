import type { Allow } from '@remit/sdk'
import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'

const MAX_KEPT = 1_000
const MAX_TASKS = 10_000

/**
 * Allowed calls that have no final result yet, because the upstream made a task of them or asked for input.
 * A later request about them is the same call: it is not decided again, and settles the first decision.
 */
export class Running {
  readonly #allows = new Map<string, Allow>()
  readonly #tasks = new Set<string>()

  keepTask(taskId: string, allow: Allow): void {
    this.#keep(`task ${taskId}`, allow)
    this.#tasks.add(taskId)
    removeOldest(this.#tasks, MAX_TASKS)
  }

  /** True for a task that the upstream made of one of these calls, ended ones too. */
  hasTask(taskId: unknown): boolean {
    return typeof taskId === 'string' && this.#tasks.has(taskId)
  }

  takeTask(taskId: unknown): Allow | null {
    return typeof taskId === 'string' ? this.#take(`task ${taskId}`) : null
  }

  /** An upstream that gives the same state twice asks twice: each allow continues one call. */
  keepInput(state: string, call: string, allow: Allow): void {
    this.#keep(`input ${call} ${state}`, allow)
  }

  takeInput(state: unknown, call: string): Allow | null {
    return typeof state === 'string' ? this.#take(`input ${call} ${state}`) : null
  }

  #keep(key: string, allow: Allow): void {
    this.#allows.set(key, allow)
    removeOldest(this.#allows, MAX_KEPT)
  }

  #take(key: string): Allow | null {
    const allow = this.#allows.get(key) ?? null
    this.#allows.delete(key)
    return allow
  }
}

export function removeOldest(kept: Map<string, unknown> | Set<string>, max: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= max) break
    kept.delete(oldest)
  }
}

/** The id of the task that a result created; null for a final result. */
export function taskIdOf(result: Members): string | null {
  const { resultType, task, taskId } = result
  if (resultType === 'task' && typeof taskId === 'string') return taskId
  // 2025-11-25 has the task in a member.
  const id = isMembers(task) && !('content' in result) ? task['taskId'] : undefined
  return typeof id === 'string' ? id : null
}

const ENDED = new Set(['completed', 'failed', 'cancelled'])

/** The outcome in a response about a task; null while it goes on. */
export function taskOutcome(method: string, result: Members): 'success' | 'failure' | null {
  // `tasks/result` of 2025-11-25 has the result itself.
  if (method === 'tasks/result') return result['isError'] === true ? 'failure' : 'success'
  const { status, result: inner } = result
  if (typeof status !== 'string' || !ENDED.has(status)) return null
  const isError = isMembers(inner) && inner['isError'] === true
  return status === 'completed' && !isError ? 'success' : 'failure'
}
