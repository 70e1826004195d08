import { Periodic } from '@remit/core/base'
import { on } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import type { Tables } from '../tables/schema.ts'
import { statusAt } from './lifecycle.ts'
import { APPROVALS_TOPIC } from './stage.ts'

type WaitDeps = Pick<Deps, 'db' | 'clock' | 'signals' | 'log'>

/** Milliseconds between two polls without a signal: signals can be lost, and expiry sends none. */
const LOOK_MS = 5_000

type Wake = (isDecided: boolean) => void

/** The waiters of an organization by request. */
interface Waiters {
  readonly waiting: Map<string, Set<Wake>>
  looking: boolean
  again: boolean
}

/** Requests with waiting callers. One query serves all waiters of an organization. */
export class DecisionWaiters {
  readonly #deps: WaitDeps
  readonly #rooms = new Map<string, Waiters>()
  readonly #looks: Periodic
  #unsubscribe = (): void => undefined

  constructor(deps: WaitDeps) {
    this.#deps = deps
    // A slow look of one organization must not delay those of others.
    const look = () => [...this.#rooms.keys()].forEach((orgId) => void this.#look(orgId))
    this.#looks = new Periodic(LOOK_MS, () => Promise.resolve(look()), this.#failed)
  }

  start(): void {
    this.#unsubscribe = this.#deps.signals.subscribe(
      APPROVALS_TOPIC,
      (orgId) => void this.#look(orgId),
    )
    this.#looks.start()
  }

  /**
   * Resolves with true when the request is no longer pending; with false after `ms`, or when the signal
   * aborts.
   */
  until(orgId: string, id: string, ms: number, over: AbortSignal): Promise<boolean> {
    if (over.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const room = this.#enter(orgId)
      const wakers = room.waiting.get(id) ?? new Set()
      room.waiting.set(id, wakers)
      const giveUp = () => wake(false)
      const wake = (isDecided: boolean) => {
        clearTimeout(timer)
        over.removeEventListener('abort', giveUp)
        wakers.delete(wake)
        if (wakers.size === 0 && room.waiting.get(id) === wakers) room.waiting.delete(id)
        if (room.waiting.size === 0 && this.#rooms.get(orgId) === room) this.#rooms.delete(orgId)
        resolve(isDecided)
      }
      const timer = setTimeout(giveUp, ms)
      over.addEventListener('abort', giveUp)
      wakers.add(wake)
      // It may have been decided since it was read.
      void this.#look(orgId)
    })
  }

  async close(): Promise<void> {
    this.#unsubscribe()
    for (const { waiting } of this.#rooms.values())
      for (const wakers of waiting.values()) for (const wake of wakers) wake(false)
    await this.#looks.close()
  }

  readonly #failed = (error: unknown): void =>
    this.#deps.log.warn({ err: error }, 'reading awaited approvals failed')

  #enter(orgId: string): Waiters {
    const room = this.#rooms.get(orgId) ?? { waiting: new Map(), looking: false, again: false }
    this.#rooms.set(orgId, room)
    return room
  }

  async #look(orgId: string): Promise<void> {
    const room = this.#rooms.get(orgId)
    if (!room) return
    room.again = true
    if (room.looking) return
    room.looking = true
    try {
      while (room.again && room.waiting.size > 0) {
        room.again = false
        await this.#wake(orgId, room)
      }
    } catch (error) {
      this.#failed(error)
    } finally {
      room.looking = false
    }
  }

  async #wake(orgId: string, { waiting }: Waiters): Promise<void> {
    const ids = [...waiting.keys()]
    const found = await on<Tables>(this.#deps.db)
      .selectFrom('approval_request')
      .select(['id', 'status', 'counts_until'])
      .where('org_id', '=', orgId)
      .where('id', 'in', ids)
      .execute()
    const now = this.#deps.clock.now()
    for (const row of found) {
      if (statusAt(row, now) === 'pending') continue
      for (const wake of waiting.get(row.id) ?? []) wake(true)
    }
  }
}
