import type { AnyDatabase } from '@remit/core/db'
import { publicPart } from '@remit/core/keys'
import type { CredentialHolder, Credentials } from '@remit/core/keys'
import type { Deps } from '@remit/core/module'
import { EndedUse } from './ended-use.ts'
import type { Hasher } from './hasher.ts'
import { findCredentialRecords, findCredentialRecord, endReasonOf } from './credential-record.ts'
import type { CredentialRecord } from './credential-record.ts'
import { LastUse } from './last-use.ts'

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
