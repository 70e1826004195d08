/** Trust. */
export const trust = {}
