const DECISIONS = ['authorization.decided', 'approval.decided']

/**
 * Which kinds of entries can be evidence of what: each is a kind, or the beginning of some. A kind of
 * evidence that is not here is not judged.
 */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  ledger_integrity: DECISIONS,
  ledger_continuity: DECISIONS,
}

/** Whether an entry of this kind can be evidence of that. What a caller wrote never is. */
export function isOfKind(evidence: string, kind: string): boolean {
  if (kind === 'entry.appended') return false
  const kinds = Object.hasOwn(KINDS, evidence) ? KINDS[evidence] : undefined
  return (
    kinds === undefined ||
    kinds.some((one) => (one.endsWith('.') ? kind.startsWith(one) : kind === one))
  )
}
