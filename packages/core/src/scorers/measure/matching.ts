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
