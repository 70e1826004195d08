import { isoTime, Periodic } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import { recording } from '@remit/core/ledger/lanes'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'

const SETTLE_MS = 10 * 60_000
// Entries have a maximum size; many agents need several.
const AGENTS_AN_ENTRY = 500

interface Counted {
  /** Milliseconds of the first counted check. */
  readonly from: number
  /** Checks by agent; null for checks without one. */
  readonly agents: Map<string | null, number>
}

/**
 * Counts plain guard allows and records the counts every ten minutes: the coverage is evidence, but
 * single allows are not worth an entry. A process that dies loses its counts since the last entry.
 */
export class GuardCounts {
  readonly #deps: Pick<Deps, 'clock' | 'writer' | 'log'>
  readonly #counted = new Map<string, Counted>()
  readonly #runs: Periodic
  #settling: Promise<void> = Promise.resolve()

  constructor(deps: Pick<Deps, 'clock' | 'writer' | 'log'>) {
    this.#deps = deps
    this.#runs = new Periodic(
      SETTLE_MS,
      () => this.#settleAll(),
      (error) => deps.log.error({ err: error }, 'recording guard check counts failed'),
    )
  }

  add(orgId: string, agentId: string | null): void {
    let counted = this.#counted.get(orgId)
    if (!counted) {
      counted = { from: this.#deps.clock.now(), agents: new Map() }
      this.#counted.set(orgId, counted)
    }
    counted.agents.set(agentId, (counted.agents.get(agentId) ?? 0) + 1)
    if (counted.agents.size >= AGENTS_AN_ENTRY) this.#settleSoon(orgId)
  }

  start(): void {
    this.#runs.start()
  }

  /** Records all pending counts. */
  async settle(): Promise<void> {
    await this.#runs.close()
    await this.#settleAll()
  }

  async #settleAll(): Promise<void> {
    for (const orgId of this.#counted.keys()) this.#settleSoon(orgId)
    await this.#settling
  }

  #settleSoon(orgId: string): void {
    const counted = this.#counted.get(orgId)
    if (!counted) return
    this.#counted.delete(orgId)
    this.#settling = this.#settling.then(() => this.#record(orgId, counted))
  }

  async #record(orgId: string, counted: Counted): Promise<void> {
    const { clock, writer, log } = this.#deps
    const entry = entryOf(counted, clock.now())
    await writer
      .work(orgId, OPERATOR, () => recording(entry))
      .catch((error: unknown) =>
        log.error({ err: error, orgId }, 'recording guard check counts failed'),
      )
  }
}

function entryOf({ from, agents }: Counted, to: number): EntryDraft {
  const counts = [...agents].map(([agent_id, checks]) => ({ agent_id, checks }))
  return {
    kind: 'guard.counted',
    actor: actorOf(null),
    data: {
      from: isoTime(from),
      to: isoTime(to),
      action: 'allow',
      checks: counts.reduce((sum, { checks }) => sum + checks, 0),
      agents: counts,
    },
  }
}
