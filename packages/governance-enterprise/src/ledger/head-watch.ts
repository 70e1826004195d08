import type { Deps } from '@remit/core/module'
import { Bell } from '../streams/event-stream.ts'

/** Milliseconds between two looks at the end of a ledger. */
const LOOK_MS = 500
/** Milliseconds after which a wait ends without news. */
const WAIT_MS = 5_000

interface Watched {
  readonly bells: Set<Bell>
  size: number | null
  timer: NodeJS.Timeout
}

/**
 * Notices new entries by polling, once for all streams of an organization: a signal with every commit
 * would cost each decision a query.
 */
export class HeadWatch {
  readonly #ledger: Deps['ledger']
  readonly #watched = new Map<string, Watched>()

  constructor({ ledger }: Pick<Deps, 'ledger'>) {
    this.#ledger = ledger
  }

  /** Returns a wait for new entries, and the end of its use. */
  watch(orgId: string): { wait(over: AbortSignal): Promise<void>; close(): void } {
    const bell = new Bell()
    const watched = this.#watched.get(orgId) ?? this.#begin(orgId)
    watched.bells.add(bell)
    return {
      wait: (over) => bell.wait(WAIT_MS, over),
      close: () => {
        watched.bells.delete(bell)
        if (watched.bells.size > 0 || this.#watched.get(orgId) !== watched) return
        clearTimeout(watched.timer)
        this.#watched.delete(orgId)
      },
    }
  }

  #begin(orgId: string): Watched {
    const later = () => setTimeout(() => void look(), LOOK_MS).unref()
    const watched: Watched = { bells: new Set(), size: null, timer: later() }
    const look = async () => {
      // A database that does not answer is noticed by the streams themselves.
      const head = await this.#ledger.head(orgId).catch(() => null)
      if (this.#watched.get(orgId) !== watched) return
      if (head && head.size !== watched.size) {
        watched.size = head.size
        for (const bell of watched.bells) bell.ring()
      }
      watched.timer = later()
    }
    this.#watched.set(orgId, watched)
    return watched
  }
}
