/** The maximum number of organizations whose configuration a cache holds. */
export const MAX_CACHED_ORGS = 1_000

/**
 * Options of an `LRUCache` that holds up to so many entries and takes memory as it fills. With `max`
 * it takes the memory of all of them when it is created.
 */
export const upTo = (entries: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
})
