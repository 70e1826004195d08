import { isDistributed } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import { publicPart } from '@remit/core/keys'
import type { CredentialHolder, Credentials } from '@remit/core/keys'
import type { Deps } from '@remit/core/module'
import { isoTime, Periodic, upTo } from '@remit/core/base'
import { recording } from '@remit/core/ledger/lanes'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { OPERATOR } from '@remit/core/orgs'
import { LRUCache } from 'lru-cache'
import type { Hasher } from './hasher.ts'
import { findCredentialRecords, findCredentialRecord, endReasonOf } from './credential-record.ts'
import type { CredentialRecord, EndReason } from './credential-record.ts'
import { claimRefusedUse, putUses } from './store.ts'
import type { CredentialUseRow } from '../tables/credentials.ts'

/**
 * Checks the credentials of callers. Every check reads the row, so a revocation by any process
 * takes effect with the next call.
 */
export class Directory implements Credentials {
  readonly #deps: Pick<Deps, 'db' | 'clock'>
  readonly #hasher: Hasher
  readonly #lastUse: LastUse
  readonly #endedUse: EndedUse

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log' | 'writer'>, hasher: Hasher) {
    this.#deps = deps
    this.#hasher = hasher
    this.#lastUse = new LastUse(deps)
    this.#endedUse = new EndedUse(deps)
  }

  async authenticate(text: string): Promise<CredentialHolder | null> {
    const credential = await this.look(text)
    if (credential) this.used(credential)
    return credential
  }

  /** Returns the live credential with this text; does not count as a use. */
  async look(text: string): Promise<CredentialRecord | null> {
    const credential = await this.recognize(text)
    if (!credential) return null
    const ended = endReasonOf(credential, this.#deps.clock.now())
    if (ended === null) return credential
    this.#endedUse.note(credential, ended)
    return null
  }

  /** Returns the credential with this text, live or not. */
  async recognize(text: string): Promise<CredentialRecord | null> {
    const credential = await findCredentialRecord(this.#deps.db, `cred_${publicPart(text)}`)
    return this.#hasher.matches(text, credential) && credential ? credential : null
  }

  async find(
    tx: AnyDatabase,
    orgId: string,
    ids: readonly string[],
    now: number,
  ): Promise<CredentialHolder[]> {
    return (await findCredentialRecords(tx, orgId, ids)).filter(
      (credential) => endReasonOf(credential, now) === null,
    )
  }

  used(credential: Pick<CredentialHolder, 'id' | 'orgId'>): void {
    this.#lastUse.note(credential)
  }

  start(): void {
    this.#lastUse.start()
  }

  async close(): Promise<void> {
    await this.#endedUse.close()
    await this.#lastUse.close()
  }
}

const REST_MS = 60_000
const MAX_KNOWN = 10_000

/**
 * Records the use of an ended credential. Its secret is correct and so in the wrong hands: an
 * alarm, once per minute and credential.
 */
class EndedUse {
  readonly #deps: Pick<Deps, 'writer' | 'clock' | 'log'>
  /** The time of the last record of each credential, in milliseconds. */
  readonly #told = new LRUCache<string, number>(upTo(MAX_KNOWN))
  readonly #running = new Set<Promise<void>>()

  constructor(deps: Pick<Deps, 'writer' | 'clock' | 'log'>) {
    this.#deps = deps
  }

  /** Not awaited: response and timing must tell the caller nothing. */
  note(credential: CredentialRecord, reason: EndReason): void {
    const now = this.#deps.clock.now()
    const before = this.#told.get(credential.id)
    if (before !== undefined && now - before < REST_MS) return
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

  #record({ id, orgId, agentId }: CredentialRecord, reason: EndReason): Promise<void> {
    return this.#deps.writer.work(orgId, OPERATOR, async ({ tx, now }) => {
      // Other processes see it too; the row decides which of them records it.
      const isFirst = await claimRefusedUse(tx, orgId, id, now)
      const entry: EntryDraft = {
        kind: 'credential.refused',
        actor: { type: 'credential', id },
        agent_id: agentId,
        reason,
        data: { credential_id: id, reason },
      }
      return recording(...(isFirst ? [entry] : []))
    })
  }
}

const MINUTE_MS = 60_000
const WRITE_MS = 10_000
/** The maximum number of cached credentials; beyond it some are written more often. */
const MAX_LAST_USES = 20_000
const ROWS_A_STATEMENT = 1_000

/** Collects the times of credential uses and writes them periodically, to the minute. */
class LastUse {
  readonly #deps: Pick<Deps, 'db' | 'clock' | 'log'>
  /** The minute (milliseconds) of each recorded use. */
  readonly #known = new LRUCache<string, number>(upTo(MAX_LAST_USES))
  #waiting = new Map<string, CredentialUseRow>()
  readonly #writes: Periodic

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log'>) {
    this.#deps = deps
    this.#writes = new Periodic(WRITE_MS, () => this.#write(), this.#failed)
  }

  start(): void {
    this.#writes.start()
  }

  note({ id, orgId }: Pick<CredentialHolder, 'id' | 'orgId'>): void {
    const now = this.#deps.clock.now()
    const minute = now - (now % MINUTE_MS)
    if (this.#known.get(id) === minute) return
    this.#known.set(id, minute)
    this.#waiting.set(id, { id, org_id: orgId, used_at: isoTime(minute) })
  }

  async close(): Promise<void> {
    await this.#writes.close()
    await this.#writes.run()
  }

  readonly #failed = (error: unknown): void =>
    this.#deps.log.warn({ err: error }, 'recording the last use of credentials failed')

  /** Writes the collected uses; failed writes are retried. */
  async #write(): Promise<void> {
    const uses = [...this.#waiting.values()]
    if (uses.length === 0) return
    this.#waiting = new Map()
    for (const part of await this.#partsOf(uses)) {
      try {
        for (let start = 0; start < part.length; start += ROWS_A_STATEMENT)
          await putUses(this.#deps.db, part.slice(start, start + ROWS_A_STATEMENT))
      } catch (error) {
        this.#failed(error)
        for (const use of part)
          if (!this.#waiting.has(use.id) && this.#waiting.size < MAX_LAST_USES)
            this.#waiting.set(use.id, use)
      }
    }
  }

  /** Rows that are written together: on a distributed database, those of an organization. */
  async #partsOf(uses: readonly CredentialUseRow[]): Promise<CredentialUseRow[][]> {
    if (!(await isDistributed(this.#deps.db))) return [[...uses]]
    return [...Map.groupBy(uses, ({ org_id }) => org_id).values()]
  }
}
