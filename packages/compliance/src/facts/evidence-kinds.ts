import { readFileSync } from 'node:fs'

/**
 * A kind of evidence: the entries it reads, the state it shows at the end, and the entries that
 * count as operation.
 */
export interface EvidenceKindDefinition {
  readonly id: string
  readonly title: string
  /** Entry kinds; `policy.*` matches a prefix, `*` everything. */
  readonly reads: readonly string[]
  readonly state: string
  readonly operated: string
}

// The folder is as far from `src` as from `dist`.
export const readRows = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../data/${name}.json`, import.meta.url), 'utf8'))

export const byId = <T extends { readonly id: string }>(
  rows: readonly T[],
): ReadonlyMap<string, T> => new Map(rows.map((row) => [row.id, row]))

/** The kinds of evidence by id, in file order. */
export const EVIDENCE_KINDS = byId(readRows('evidence-kinds') as readonly EvidenceKindDefinition[])

/** The entry kinds that are evidence of a kind. */
export function readsOf(kind: string): readonly string[] {
  const found = EVIDENCE_KINDS.get(kind)
  if (!found) throw new Error(`there is no kind of evidence ${kind}`)
  return found.reads
}
