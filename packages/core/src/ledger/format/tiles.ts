/** Hashes in a full tile, and leaves under one hash of the level above. */
export const TILE_WIDTH = 256

export interface TileCount {
  readonly level: number
  readonly fullTiles: number
  /** Hashes in the last, unfinished tile of the level; 0 if there is none. */
  readonly partialWidth: number
}

/** Which tiles a tree of `size` leaves has, level by level (C2SP tlog-tiles, "Merkle Tree"). */
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
 * The path of a tile below a log's URL prefix. The index is cut in threes and all groups but the
 * last are marked with x, so no folder grows past a thousand names; an unfinished tile adds its
 * width (C2SP tlog-tiles). Level `entries` names the bundle of the entries themselves.
 */
export function tilePath(level: number | 'entries', index: number, width = TILE_WIDTH): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? []
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
  return `tile/${level}/${path}${width < TILE_WIDTH ? `.p/${width}` : ''}`
}

/** Whether a value is a number of leaves that can be counted exactly: 0 to 2^53 - 1. */
export function isSize(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
