/** The maximum number of organizations whose configuration a cache holds. */
export const MAX_CACHED_ORGS = 1_000
