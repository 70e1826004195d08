/** Trusted issuers. */
export const issuers = {}
