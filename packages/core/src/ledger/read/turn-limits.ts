/** Concurrent pages that are larger than one slice. */
export const LARGE_READS = { size: 4, each: 2, waiting: { each: 32, total: 256 } }
/** Concurrent plans of pages. */
export const PLANS = { size: Infinity, each: 2, waiting: { each: 64, total: 512 } }
/** Concurrent searches for decisions: most take a millisecond, some much longer. */
export const LINKS = { size: 4, each: 2, waiting: { each: 64, total: 512 } }
/** Concurrent reads of the event streams of an organization, which wait as long as it takes. */
export const STREAMS = { size: Infinity, each: 1 }
