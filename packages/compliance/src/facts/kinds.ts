/** Whether a kind of entry is one that is read: `*` is all, `approval.*` all that begin so. */
export const coversKind = (reads: string, kind: string): boolean =>
  reads === '*' || reads === kind || (reads.endsWith('.*') && kind.startsWith(reads.slice(0, -1)))
