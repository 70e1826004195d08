import { LRUCache } from 'lru-cache'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerHeadRow } from '../../db/schema.ts'
import { isDeleted, organizationDeleted } from '../../limits/deleted.ts'
import type { AnyDatabase } from '../../db/portable.ts'
import { fail } from '../../base/errors.ts'
import type { Failure } from '../../base/errors.ts'
import { CheckpointError, openCheckpoint, isKeyName, NoteError } from '../format/note.ts'
import type { NoteSigner, NoteVerifier, LedgerSigner } from '../format/note.ts'
import { entryHash, headerOf, isHash, isTime } from '../format/entry.ts'
import { decodeFrontier, rootOf } from '../format/merkle.ts'

type Db = Database<CoreTables>

/** The parts of a head that the next entry and its signature depend on. */
type End = Pick<LedgerHeadRow, 'size' | 'hash' | 'recorded_at' | 'frontier' | 'note' | 'origin'>

/** The end of a ledger that is certainly in the database: its number of entries, the hash of the last one. */
type CommittedEnd = Pick<LedgerHeadRow, 'size' | 'hash'>

const MAX_KNOWN = 1_000

/**
 * Continues a ledger only from an end that its own key signed. A head can be changed with write
 * access to the database, and signing further entries would confirm the forgery.
 */
export class HeadGuard {
  readonly #signer: LedgerSigner
  /** Ends that this process has verified or written: usually no other process wrote since. */
  readonly #known = new LRUCache<string, End>({ max: MAX_KNOWN })
  /** The largest committed ends that this process has seen. */
  readonly #ends = new LRUCache<string, CommittedEnd>({ max: MAX_KNOWN })

  constructor(signer: LedgerSigner) {
    this.#signer = signer
  }

  /**
   * Returns the signer of a ledger whose head is locked; null if the head does not match its
   * signature. Throws `ledger_unavailable` for a head with another key, for an invalid one, and for
   * one without a commit that this process has seen: the answers of that commit would be contradicted.
   */
  async signerFor(tx: Db, head: LedgerHeadRow): Promise<NoteSigner | null> {
    const signer = signerOf(this.#signer, head)
    if (!isSame(this.#known.get(head.org_id), head)) {
      if (!isReadable(head)) throw forgedHead()
      if (!isSigned(head, signer) || !(await isLastEntry(tx, head))) return null
      this.refuseBehind(head)
      await this.#refuseOther(tx, head)
      this.keep(head)
    }
    this.refuseBehind(head)
    this.committed(head.org_id, head)
    return signer
  }

  /** Throws `ledger_unavailable` for a head behind a commit that this process has seen. */
  refuseBehind({ org_id: orgId, size }: Pick<LedgerHeadRow, 'org_id' | 'size'>): void {
    if (size < (this.#ends.get(orgId)?.size ?? 0)) throw headBehind()
  }

  /** Remembers the end of a ledger after a commit. */
  committed(orgId: string, { size, hash }: CommittedEnd): void {
    this.#ends.set(orgId, { size, hash })
  }

  /** Another server may have written past a commit that a restore or a failover lost. */
  async #refuseOther(tx: Db, head: LedgerHeadRow): Promise<void> {
    const end = this.#ends.get(head.org_id)
    if (!end || end.size === 0) return
    const entry = await tx
      .selectFrom('ledger_entry')
      .select('hash')
      .where('org_id', '=', head.org_id)
      .where('seq', '=', end.size - 1)
      .executeTakeFirst()
    // A missing one was pruned.
    if (entry && entry.hash !== end.hash) throw headBehind()
  }

  /** Remembers a signed end. If it is not committed, the stored one is verified again. */
  keep(head: LedgerHeadRow): void {
    this.#known.set(head.org_id, head)
  }
}

/** Returns the signer of a ledger. Throws `ledger_unavailable` if its head has another key or origin. */
export function signerOf(
  signer: LedgerSigner,
  { origin, vkey }: Pick<LedgerHeadRow, 'origin' | 'vkey'>,
): NoteSigner {
  // The database may have been modified, so the type is checked too.
  const isValid = typeof origin === 'string' && isKeyName(origin)
  const own = isValid ? signer.forOrigin(origin) : null
  if (own?.vkey === vkey) return own
  const name = /^[^+]*/.exec(vkey)?.[0]
  throw fail(
    'ledger_unavailable',
    name === origin
      ? 'The ledger is signed with a different key than the key of this server'
      : `The ledger head has the origin ${origin} instead of ${name}; verify the ledger`,
  )
}

/** The error for a ledger head that does not match its signature. */
export const forgedHead = (): Failure =>
  fail(
    'ledger_unavailable',
    'The ledger head does not match its signature, so nothing was recorded; verify the ledger',
  )

const headBehind = (): Failure =>
  fail(
    'ledger_unavailable',
    'The ledger lacks an entry that this server has seen, so nothing was recorded: a backup was restored, or a standby without the last commits was promoted',
  )

/** The error for a missing ledger head; the entries may be complete. */
export const missingHead = (): Failure =>
  fail(
    'ledger_unavailable',
    'The organization has no ledger head, so nothing was recorded; verify the ledger',
  )

/** The error for work of an organization without a head: it was deleted, or the row is missing. */
export const withoutHead = async (db: AnyDatabase, orgId: string): Promise<Failure> =>
  (await isDeleted(db, orgId)) ? organizationDeleted() : missingHead()

const isSame = (known: End | undefined, head: End): boolean =>
  known !== undefined &&
  known.note === head.note &&
  known.size === head.size &&
  known.hash === head.hash &&
  known.recorded_at === head.recorded_at &&
  known.frontier === head.frontier &&
  known.origin === head.origin

function isReadable({ size, frontier, hash, recorded_at }: End): boolean {
  try {
    decodeFrontier(size, frontier)
    return isHash(hash) && isTime(recorded_at)
  } catch {
    // Of another size, or of an invalid type.
    return false
  }
}

/** Returns true if the key signed this size with the root of the frontier. */
function isSigned({ size, frontier, note, origin }: End, verifier: NoteVerifier): boolean {
  try {
    const signed = openCheckpoint(note, verifier, origin)
    return signed.size === size && signed.root === rootOf(decodeFrontier(size, frontier).nodes)
  } catch (error) {
    // A TypeError: an invalid type.
    const isWrong = [NoteError, CheckpointError, RangeError, TypeError].some(
      (known) => error instanceof known,
    )
    if (isWrong) return false
    throw error
  }
}

/** Returns true if hash and time are those of the last entry, which the next entry must link to. */
async function isLastEntry(tx: Db, head: LedgerHeadRow): Promise<boolean> {
  const last = await tx
    .selectFrom('ledger_entry')
    .select(['org_id', 'seq', 'prev_hash', 'hash', 'recorded_at', 'kind', 'commitment'])
    .where('org_id', '=', head.org_id)
    .where('seq', '=', head.size - 1)
    .executeTakeFirst()
  return (
    last !== undefined &&
    last.hash === head.hash &&
    last.recorded_at === head.recorded_at &&
    entryHash(headerOf(last)) === head.hash
  )
}
