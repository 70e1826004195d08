import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerHeadRow } from '../../db/schema.ts'
import { fail } from '../../base/errors.ts'
import type { Failure } from '../../base/errors.ts'
import { CheckpointError, openCheckpoint } from '../format/checkpoint.ts'
import { entryHash, headerOf, isHash, isTime } from '../format/entry.ts'
import { decodeFrontier, rootOf } from '../format/merkle.ts'
import { isKeyName, NoteError, parseVerifierKey } from '../format/note.ts'
import type { NoteSigner } from '../format/note.ts'
import type { LedgerSigner } from '../format/signing-key.ts'

type Db = Database<CoreTables>

/** What the next entry and its signature are made from. */
type End = Pick<LedgerHeadRow, 'size' | 'hash' | 'recorded_at' | 'frontier' | 'note' | 'origin'>

const MAX_KNOWN = 1_000

/**
 * Lets a ledger go on only from an end that its own key signed. Whoever can write to the database can
 * move a head; to sign what comes after it would be to vouch for the forgery.
 */
export class HeadGuard {
  readonly #signer: LedgerSigner
  /** Ends that this process found right, or wrote itself: most of the time nobody else wrote since. */
  readonly #known = new Map<string, End>()

  constructor(signer: LedgerSigner) {
    this.#signer = signer
  }

  /**
   * The signer of a ledger whose head is locked; null where the head is not as that signer left it.
   * Throws `ledger_unavailable` for a head of another key, and for one that nothing can be linked to.
   */
  async signerFor(tx: Db, head: LedgerHeadRow): Promise<NoteSigner | null> {
    const signer = this.#signerOf(head)
    if (isSame(this.#known.get(head.org_id), head)) return signer
    if (!isReadable(head)) throw forgedHead()
    if (!isSigned(head, signer) || !(await isLastEntry(tx, head))) return null
    this.keep(head)
    return signer
  }

  /** Remembers an end that was signed. If it is not committed, the one that is there is looked at. */
  keep(head: LedgerHeadRow): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(head.org_id, head)
  }

  #signerOf({ origin, vkey }: LedgerHeadRow): NoteSigner {
    const signer = isOrigin(origin) ? this.#signer.forOrigin(origin) : null
    if (signer?.vkey === vkey) return signer
    throw fail('ledger_unavailable', 'The ledger is signed with another key than this server has')
  }
}

/** The end of a ledger is not what its key signed. */
export const forgedHead = (): Failure =>
  fail(
    'ledger_unavailable',
    'The end of the ledger is not as its key signed it: nothing is recorded. Verify the ledger',
  )

/** The row that the writer locks is gone; the entries may all be there. */
export const missingHead = (): Failure =>
  fail(
    'ledger_unavailable',
    'The organization has no ledger head: nothing is recorded. Verify the ledger',
  )

/** Whether a key can bear this name. */
const isOrigin = (value: unknown): value is string => typeof value === 'string' && isKeyName(value)

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
    // Of another size, or of a type that is never written.
    return false
  }
}

/** Whether the key signed this size with the root that the frontier gives. */
function isSigned({ size, frontier, note, origin }: End, { vkey }: NoteSigner): boolean {
  try {
    const signed = openCheckpoint(note, parseVerifierKey(vkey), origin)
    return signed.size === size && signed.root === rootOf(decodeFrontier(size, frontier).nodes)
  } catch (error) {
    // A TypeError: of a type that is never written.
    const isWrong = [NoteError, CheckpointError, RangeError, TypeError].some(
      (known) => error instanceof known,
    )
    if (isWrong) return false
    throw error
  }
}

/** Whether hash and time are those of the last entry: the next one links to it, and is not earlier. */
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
