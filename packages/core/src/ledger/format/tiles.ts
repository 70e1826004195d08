/** Hashes in a full tile, and leaves under one hash of the next level. */
export const TILE_WIDTH = 256

export interface TileCount {
  readonly level: number
  readonly fullTiles: number
  /** Hashes in the last, unfinished tile of the level; 0 if there is none. */
  readonly partialWidth: number
}

/**
 * Returns the tiles of a tree of `size` leaves, level by level (C2SP tlog-tiles, "Merkle Tree").
 */
export function tileCounts(size: number): TileCount[] {
  const counts: TileCount[] = []
  for (let hashes = size; hashes > 0; hashes = Math.floor(hashes / TILE_WIDTH)) {
    counts.push({
      level: counts.length,
      fullTiles: Math.floor(hashes / TILE_WIDTH),
      partialWidth: hashes % TILE_WIDTH,
    })
  }
  return counts
}

/**
 * Returns the path of a tile below the URL prefix of a log. The index is split into groups of three
 * digits, all but the last marked with x, so no folder has more than a thousand names; an
 * unfinished tile adds its width (C2SP tlog-tiles). Level `entries` names the bundle of the entries
 * themselves.
 */
export function tilePath(level: number | 'entries', index: number, width = TILE_WIDTH): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? []
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
  return `tile/${level}/${path}${width < TILE_WIDTH ? `.p/${width}` : ''}`
}

/** Returns true for a number of leaves that can be counted exactly: 0 to 2^53 - 1. */
export function isSize(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
