import { publicPart } from '@remit/core'
import type { AnyDatabase, CredentialHolder, Credentials, Deps } from '@remit/core'
import { EndedUse } from './ended-use.ts'
import type { Hasher } from './hasher.ts'
import { findKnown, findOneKnown, whyEnded } from './known.ts'
import type { KnownCredential } from './known.ts'
import { LastUse } from './last-use.ts'

/**
 * The credentials of all organizations, as callers present them. Each look is at the row: what was
 * revoked anywhere is refused by the next call everywhere.
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
    if (credential) this.used(credential.id)
    return credential
  }

  /** The credential with this text, if it counts now; asking is no use of it. */
  async look(text: string): Promise<KnownCredential | null> {
    const credential = await this.recognize(text)
    if (!credential) return null
    const ended = whyEnded(credential, this.#deps.clock.now())
    if (ended === null) return credential
    this.#endedUse.note(credential, ended)
    return null
  }

  /** The credential with this text, whatever has become of it. */
  async recognize(text: string): Promise<KnownCredential | null> {
    const credential = await findOneKnown(this.#deps.db, `cred_${publicPart(text)}`)
    return this.#hasher.matches(text, credential) && credential ? credential : null
  }

  async find(tx: AnyDatabase, ids: readonly string[], now: number): Promise<CredentialHolder[]> {
    return (await findKnown(tx, ids)).filter((credential) => whyEnded(credential, now) === null)
  }

  used(id: string): void {
    this.#lastUse.note(id)
  }

  start(): void {
    this.#lastUse.start()
  }

  async close(): Promise<void> {
    await this.#endedUse.close()
    await this.#lastUse.close()
  }
}
