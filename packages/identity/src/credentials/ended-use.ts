import { OPERATOR } from '@remit/core'
import type { Deps } from '@remit/core'
import type { EndReason, KnownCredential } from './known.ts'
import { noteRefused } from './store.ts'

const REST_MS = 60_000
const MAX_KNOWN = 10_000

/**
 * Records that somebody used a credential after its end. The secret was right, so it is in hands that
 * should not have it any more: an alarm, once a minute and credential.
 */
export class EndedUse {
  readonly #deps: Pick<Deps, 'writer' | 'clock' | 'log'>
  /** When each was last handed to the writer, milliseconds. */
  readonly #told = new Map<string, number>()
  readonly #running = new Set<Promise<void>>()

  constructor(deps: Pick<Deps, 'writer' | 'clock' | 'log'>) {
    this.#deps = deps
  }

  /** Nobody waits for it: the caller learns nothing, not even by the time it takes. */
  note(credential: KnownCredential, reason: EndReason): void {
    const now = this.#deps.clock.now()
    const before = this.#told.get(credential.id)
    if (before !== undefined && now - before < REST_MS) return
    if (this.#told.size >= MAX_KNOWN) this.#told.clear()
    this.#told.set(credential.id, now)
    const running = this.#record(credential, reason).catch((error: unknown) =>
      this.#deps.log.warn({ err: error }, 'recording the use of an ended credential failed'),
    )
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
  }

  async close(): Promise<void> {
    await Promise.all(this.#running)
  }

  #record({ id, orgId, agentId }: KnownCredential, reason: EndReason): Promise<void> {
    return this.#deps.writer.work(orgId, OPERATOR, async ({ tx, now }) => {
      // Other processes are told too; the row says whose turn it is.
      const isFirst = await noteRefused(tx, orgId, id, now)
      const entry = {
        kind: 'credential.refused',
        actor: { type: 'credential', id },
        agent_id: agentId,
        reason,
        data: { credential_id: id, reason },
      }
      return { entries: isFirst ? [entry] : [], reply: () => undefined }
    })
  }
}
