import { hash } from 'node:crypto'
import type { Database } from '@remit/core/db/open'
import { dialectOf } from '@remit/core/db'
import type { CoreTables, LedgerCheckpointRow, LedgerEntryRow, LedgerHeadRow } from '@remit/core/db'
import type { LedgerSigner } from '@remit/core/ledger/proofs'
import { sql } from 'kysely'

type Db = Database<CoreTables>

const TABLES = ['ledger_entry', 'ledger_head', 'ledger_checkpoint', 'ledger_node'] as const

/** The rows of each of `TABLES`. */
type Copy = readonly (readonly unknown[])[]

/**
 * An attacker with the whole database, who rebuilds hashes and trees according to
 * docs/ledger-format.md.
 */
export class Attacker {
  readonly db: Db
  readonly orgId: string

  constructor(db: Db, orgId: string) {
    this.db = db
    this.orgId = orgId
  }

  /** Takes the guard rails off, as he would first. */
  static async dropGuards(db: Db): Promise<void> {
    const on = dialectOf(db) === 'postgres' ? 'on ledger_entry' : ''
    for (const name of ['ledger_entry_is_final', 'ledger_entry_stays'])
      await sql.raw(`drop trigger ${name} ${on}`).execute(db)
  }

  entries(): Promise<LedgerEntryRow[]> {
    const own = this.db.selectFrom('ledger_entry').selectAll().where('org_id', '=', this.orgId)
    return own.orderBy('seq').execute()
  }

  checkpoints(): Promise<LedgerCheckpointRow[]> {
    const own = this.db.selectFrom('ledger_checkpoint').selectAll()
    return own.where('org_id', '=', this.orgId).orderBy('size').execute()
  }

  head(): Promise<LedgerHeadRow> {
    return this.db
      .selectFrom('ledger_head')
      .selectAll()
      .where('org_id', '=', this.orgId)
      .executeTakeFirstOrThrow()
  }

  async set(seq: number, change: Partial<LedgerEntryRow>): Promise<void> {
    await this.db
      .updateTable('ledger_entry')
      .set(change)
      .where('org_id', '=', this.orgId)
      .where('seq', '=', seq)
      .execute()
  }

  async setHead(change: Partial<LedgerHeadRow>): Promise<void> {
    await this.db.updateTable('ledger_head').set(change).where('org_id', '=', this.orgId).execute()
  }

  async remove(from: number, to = Infinity): Promise<void> {
    let query = this.db.deleteFrom('ledger_entry').where('org_id', '=', this.orgId)
    query = query.where('seq', '>=', from)
    if (to !== Infinity) query = query.where('seq', '<', to)
    await query.execute()
  }

  async removeAll(): Promise<void> {
    for (const table of TABLES)
      await this.db.deleteFrom(table).where('org_id', '=', this.orgId).execute()
  }

  /** The whole ledger as a backup would have it. */
  async copy(): Promise<Copy> {
    const rows = TABLES.map((table) =>
      this.db.selectFrom(table).selectAll().where('org_id', '=', this.orgId).execute(),
    )
    return Promise.all(rows)
  }

  /** Puts a backup in the place of the ledger. */
  async restore(copy: Copy): Promise<void> {
    await this.removeAll()
    for (const [i, rows] of copy.entries())
      if (rows.length > 0)
        await this.db
          .insertInto(TABLES[i]!)
          .values(rows as never)
          .execute()
  }

  /** Puts these in the place of all entries. */
  async replace(rows: readonly LedgerEntryRow[]): Promise<void> {
    await this.remove(0)
    for (let at = 0; at < rows.length; at += 50)
      await this.db
        .insertInto('ledger_entry')
        .values(rows.slice(at, at + 50))
        .execute()
  }

  /** Checkpoints of larger sizes go, and the head is that of the entries; its note is the newest kept one. */
  async repairHead(note: 'left' | 'older'): Promise<void> {
    const rows = await this.entries()
    const { size, frontier } = treeOf(rows)
    const { hash: end, recorded_at } = rows.at(-1)!
    await this.setHead({ size, frontier, hash: end, recorded_at })
    if (note === 'left') return
    await this.db
      .deleteFrom('ledger_checkpoint')
      .where('org_id', '=', this.orgId)
      .where('size', '>', size)
      .execute()
    await this.setHead({ note: (await this.checkpoints()).at(-1)?.note ?? '' })
  }

  /** Edits entry `k` and hashes all from there on anew; with a signer, signs every kept checkpoint too. */
  async rewrite(k: number, signer?: LedgerSigner): Promise<void> {
    const rows = await this.entries()
    const { origin } = await this.head()
    const vkey = signer?.forOrigin(origin).vkey
    const edited = rows.map((row, seq) => {
      if (seq === k) return { ...row, payload: row.payload!.replace('"data":{', '"data":{"a":1,') }
      if (seq === 0 && vkey !== undefined)
        return { ...row, payload: row.payload!.replace(/"vkey":"[^"]+"/, `"vkey":"${vkey}"`) }
      return row
    })
    await this.replace(relinked(edited))
    if (signer) await this.#sign(signer, origin)
  }

  async #sign(signer: LedgerSigner, origin: string): Promise<void> {
    const notes = signer.forOrigin(origin)
    const rows = await this.entries()
    const noteOf = (size: number) => {
      const root = Buffer.from(treeOf(rows.slice(0, size)).root, 'hex').toString('base64')
      return notes.sign(`${origin}\n${size}\n${root}\n`)
    }
    for (const { size } of await this.checkpoints()) {
      await this.db
        .updateTable('ledger_checkpoint')
        .set({ note: noteOf(size) })
        .where('org_id', '=', this.orgId)
        .where('size', '=', size)
        .execute()
    }
    const { size, frontier } = treeOf(rows)
    const end = { size, frontier, hash: rows.at(-1)!.hash }
    await this.setHead({ ...end, note: noteOf(size), vkey: notes.vkey })
  }
}

const sha256 = (data: string | Buffer): string => hash('sha256', data, 'hex')

/** The same entries with commitments, links and hashes as they should be for what they say. */
export function relinked(rows: readonly LedgerEntryRow[]): LedgerEntryRow[] {
  let prev_hash = '0'.repeat(64)
  return rows.map((row) => {
    const linked = rehashed({ ...row, prev_hash })
    prev_hash = linked.hash
    return linked
  })
}

/** The entry with commitment and hash as they should be for what it says. */
export function rehashed(row: LedgerEntryRow): LedgerEntryRow {
  const { org_id, seq, prev_hash, recorded_at, kind } = row
  const commitment = sha256(`ledger-payload/v1\n${row.salt}\n${row.payload}`)
  const header = `ledger-entry/v1\n${org_id}\n${seq}\n${prev_hash}\n${recorded_at}\n${kind}\n${commitment}\n`
  return { ...row, commitment, hash: sha256(`\0${header}`) }
}

function treeOf(rows: readonly LedgerEntryRow[]): { size: number; frontier: string; root: string } {
  const nodes: string[] = []
  for (const [size, { hash: leaf }] of rows.entries()) {
    let node = leaf
    for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) node = parent(nodes.pop()!, node)
    nodes.push(node)
  }
  const root = nodes.toReversed().reduce((right, left) => parent(left, right))
  return { size: rows.length, frontier: nodes.join(''), root }
}

const parent = (left: string, right: string): string =>
  sha256(Buffer.concat([Buffer.of(1), Buffer.from(left, 'hex'), Buffer.from(right, 'hex')]))
