/**
 * Returns the size of a maximum bipartite matching (Kuhn's method). Breadth first, because an
 * augmenting path may be longer than the call stack.
 */
export function mostPairs(
  left: number,
  right: number,
  fits: (left: number, right: number) => boolean,
): number {
  const partner = new Int32Array(right).fill(-1)
  let pairs = 0
  for (let item = 0; item < left; item++) if (placed(item, partner, fits)) pairs++
  return pairs
}

function placed(
  item: number,
  partner: Int32Array,
  fits: (left: number, right: number) => boolean,
): boolean {
  const cameFrom = new Int32Array(partner.length).fill(-2)
  const wanted = [item]
  const through = [-1]
  for (let at = 0; at < wanted.length; at++) {
    const seeker = wanted[at] ?? 0
    for (let place = 0; place < partner.length; place++) {
      if (cameFrom[place] !== -2 || !fits(seeker, place)) continue
      cameFrom[place] = through[at] ?? -1
      const holder = partner[place] ?? -1
      if (holder >= 0) {
        wanted.push(holder)
        through.push(place)
        continue
      }
      shift(place, item, partner, cameFrom)
      return true
    }
  }
  return false
}

/** Flips the augmenting path, which frees a partner for the new item. */
function shift(free: number, item: number, partner: Int32Array, cameFrom: Int32Array): void {
  let place = free
  for (let before = cameFrom[place] ?? -1; before >= 0; before = cameFrom[place] ?? -1) {
    partner[place] = partner[before] ?? -1
    place = before
  }
  partner[place] = item
}

/**
 * Assigns rows to columns with the highest sum of `worth`; every row or column of the shorter side
 * gets a partner. Returns the column of each row, -1 for none. The Hungarian method with
 * potentials, O(rows² · columns); `worth` is row by row, finite.
 */
export function assign(worth: Float64Array, rows: number, columns: number): Int32Array {
  if (rows <= columns)
    return shortestPaths(rows, columns, (row, column) => row * columns + column, worth)
  const ofColumns = shortestPaths(columns, rows, (column, row) => row * columns + column, worth)
  const ofRows = new Int32Array(rows).fill(-1)
  for (const [column, row] of ofColumns.entries()) ofRows[row] = column
  return ofRows
}

// Row and column 0 are the start of the search for a new row.
function shortestPaths(
  rows: number,
  columns: number,
  place: (row: number, column: number) => number,
  worth: Float64Array,
): Int32Array {
  const ofRow = new Float64Array(rows + 1)
  const ofColumn = new Float64Array(columns + 1)
  const partner = new Int32Array(columns + 1)
  const way = new Int32Array(columns + 1)
  for (let row = 1; row <= rows; row++) {
    partner[0] = row
    const slack = new Float64Array(columns + 1).fill(Infinity)
    const seen = new Uint8Array(columns + 1)
    let column = 0
    do {
      seen[column] = 1
      const at = partner[column] ?? 0
      let least = Infinity
      let next = 0
      for (let other = 1; other <= columns; other++) {
        if (seen[other]) continue
        const cost = -(worth[place(at - 1, other - 1)] ?? 0)
        const reduced = cost - (ofRow[at] ?? 0) - (ofColumn[other] ?? 0)
        if (reduced < (slack[other] ?? 0)) {
          slack[other] = reduced
          way[other] = column
        }
        if ((slack[other] ?? 0) < least) {
          least = slack[other] ?? 0
          next = other
        }
      }
      for (let other = 0; other <= columns; other++) {
        if (seen[other]) {
          const mate = partner[other] ?? 0
          ofRow[mate] = (ofRow[mate] ?? 0) + least
          ofColumn[other] = (ofColumn[other] ?? 0) - least
        } else {
          slack[other] = (slack[other] ?? 0) - least
        }
      }
      column = next
    } while (partner[column] !== 0)
    do {
      const before = way[column] ?? 0
      partner[column] = partner[before] ?? 0
      column = before
    } while (column !== 0)
  }
  const found = new Int32Array(rows).fill(-1)
  for (let column = 1; column <= columns; column++) {
    const row = partner[column] ?? 0
    if (row > 0) found[row - 1] = column - 1
  }
  return found
}
