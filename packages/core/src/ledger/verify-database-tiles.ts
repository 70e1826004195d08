import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { TILE_WIDTH, tileCounts } from './tiles.ts'
import type { DatabaseFindings } from './verify-database-report.ts'
import { readTiles } from './verify-database-store.ts'
import type { LedgerState } from './verify-database-store.ts'

const HASH_DIGITS = 64

interface Tile {
  readonly level: number
  readonly idx: number
  readonly hashes: string
}

/** The tiles that the entries give, compared with the stored ones as they fill. */
export class TileCheck {
  /** By level, the hashes of the tile that still grows, and how many tiles are full. */
  readonly #growing: string[][] = []
  readonly #full: number[] = []
  #waiting: Tile[] = []
  readonly #db: Database<CoreTables>
  readonly #orgId: string
  readonly #findings: DatabaseFindings

  constructor(db: Database<CoreTables>, orgId: string, findings: DatabaseFindings) {
    this.#db = db
    this.#orgId = orgId
    this.#findings = findings
  }

  /** The next hash of a level: of an entry for level 0, else of a full tile below. */
  add(level: number, hash: string): void {
    const growing = (this.#growing[level] ??= [])
    growing.push(hash)
    if (growing.length < TILE_WIDTH) return
    const idx = this.#full[level] ?? 0
    this.#waiting.push({ level, idx, hashes: growing.join('') })
    this.#growing[level] = []
    this.#full[level] = idx + 1
  }

  /** Compares the tiles that filled since the last call. */
  async compareFull(): Promise<void> {
    const tiles = this.#waiting
    this.#waiting = []
    for (const [level, computed] of Map.groupBy(tiles, (tile) => tile.level)) {
      const from = computed[0]?.idx ?? 0
      const stored = await readTiles(this.#db, this.#orgId, level, from, from + computed.length - 1)
      for (const tile of computed) this.#compare(tile, stored.get(tile.idx) ?? null)
    }
  }

  /** Compares the tiles that still grow, and the number of tiles, with those of the head's size. */
  compareEnd(size: number, state: LedgerState): void {
    for (const [level, stored] of state.partial) {
      const hashes = (this.#growing[level] ?? []).join('')
      const idx = this.#full[level] ?? 0
      if (hashes !== '') this.#compare({ level, idx, hashes }, stored)
      else if (stored !== null)
        this.#findings.add(size - 1, 'tile_unexpected', `level ${level}, index ${idx}`)
    }
    const expected = tileCounts(size)
      .map(
        ({ level, fullTiles, partialWidth }) => fullTiles + (level > 0 && partialWidth > 0 ? 1 : 0),
      )
      .reduce((sum, tiles) => sum + tiles, 0)
    if (state.tiles > expected) {
      this.#findings.add(size - 1, 'tile_unexpected', `${state.tiles} tiles instead of ${expected}`)
    }
  }

  #compare({ level, idx, hashes }: Tile, stored: string | null): void {
    this.#findings.tilesChecked++
    if (stored === hashes) return
    this.#findings.tilesMismatched++
    const code = stored === null ? 'tile_missing' : 'tile_mismatch'
    const wrong = idx * TILE_WIDTH + firstWrong(hashes, stored)
    this.#findings.add((wrong + 1) * TILE_WIDTH ** level - 1, code, `level ${level}, index ${idx}`)
  }
}

/** Which hash of a computed tile is the first that a stored one lacks; the last if it has them all. */
function firstWrong(computed: string, stored: string | null): number {
  const last = computed.length / HASH_DIGITS - 1
  let at = 0
  while (at < last && stored?.startsWith(computed.slice(0, (at + 1) * HASH_DIGITS))) at++
  return stored === null ? last : at
}
