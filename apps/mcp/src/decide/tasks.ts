import { randomUUID } from 'node:crypto'
import type { Members } from '../rpc/members.ts'
import { removeOldest } from './running.ts'

/** Milliseconds for which a task can be fetched. */
const TTL_MS = 24 * 3_600_000
const POLL_MS = 2_000
const MAX_TASKS = 1_000

interface Task {
  readonly id: string
  readonly createdAt: string
  /** Goes on with the call: null while it waits for the approval. */
  readonly resume: (signal: AbortSignal) => Promise<Members | null>
  /** Ends the wait for the approval. */
  readonly cancel: () => void
  readonly cancelled: AbortController
  resuming: Promise<void> | null
  answer: Members | null
  message: string
}

/**
 * Calls of one agent that wait for an approval as tasks of the revision 2026-07-28. They are in the memory of the
 * process: after a restart the client calls again, and the approval still counts.
 */
export class Tasks {
  readonly #tasks = new Map<string, Task>()

  /** Creates a task; `resume` is never called twice at once, and not after it returned an answer. */
  create(message: string, cancel: Task['cancel'], resume: Task['resume']): Members {
    const id = `remit-${randomUUID()}`
    const createdAt = new Date().toISOString()
    const task: Task = {
      id,
      createdAt,
      message,
      resume,
      cancel,
      cancelled: new AbortController(),
      resuming: null,
      answer: null,
    }
    this.#tasks.set(id, task)
    removeOldest(this.#tasks, MAX_TASKS)
    return { resultType: 'task', ...view(task) }
  }

  /** The result of `tasks/get`; undefined for a task of the upstream. */
  async get(id: unknown): Promise<Members | null | undefined> {
    const task = this.#find(id)
    if (!task) return task
    if (task.answer === null && !task.cancelled.signal.aborted) {
      task.resuming ??= this.#resume(task)
      // The call may take longer than this request: its result is fetched later.
      await Promise.race([
        task.resuming,
        new Promise((done) => setTimeout(done, POLL_MS / 4).unref()),
      ])
    }
    return { resultType: 'complete', ...view(task) }
  }

  cancel(id: unknown): Members | null | undefined {
    const task = this.#find(id)
    if (!task) return task
    if (task.answer === null && !task.cancelled.signal.aborted) task.cancel()
    task.cancelled.abort()
    return { resultType: 'complete' }
  }

  #find(id: unknown): Task | null | undefined {
    if (typeof id !== 'string' || !id.startsWith('remit-')) return undefined
    const task = this.#tasks.get(id)
    return task && Date.now() - Date.parse(task.createdAt) <= TTL_MS ? task : null
  }

  async #resume(task: Task): Promise<void> {
    try {
      task.answer = await task.resume(task.cancelled.signal)
    } catch (error) {
      if (task.cancelled.signal.aborted) return
      const message = error instanceof Error ? error.message : String(error)
      task.answer = { error: { code: -32_603, message } }
    } finally {
      task.resuming = null
    }
  }
}

function view({ id, createdAt, answer, cancelled, message }: Task): Members {
  const base = {
    taskId: id,
    createdAt,
    lastUpdatedAt: new Date().toISOString(),
    ttlMs: TTL_MS,
    pollIntervalMs: POLL_MS,
  }
  if (answer && 'result' in answer)
    return { ...base, status: 'completed', result: answer['result'] }
  if (answer) return { ...base, status: 'failed', error: answer['error'] }
  if (cancelled.signal.aborted)
    return { ...base, status: 'cancelled', statusMessage: 'Cancelled by the client.' }
  return { ...base, status: 'working', statusMessage: message }
}
