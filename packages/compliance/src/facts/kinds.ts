/** Returns whether `reads` covers a kind: `*` covers all, `approval.*` a prefix. */
export const coversKind = (reads: string, kind: string): boolean =>
  reads === '*' || reads === kind || (reads.endsWith('.*') && kind.startsWith(reads.slice(0, -1)))
