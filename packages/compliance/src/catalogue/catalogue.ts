import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { canonicalJson } from '@remit/contract/json'
import type { Framework as FrameworkId } from '@remit/contract'
import type {
  Catalogue,
  CheckDefinition,
  Control,
  EvidenceKindDefinition,
  FrameworkDefinition,
  MetricDefinition,
} from './definitions.ts'

// The folder is as far from `src` as from `dist`.
const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../data/${name}.json`, import.meta.url), 'utf8'))

const byId = <T extends { readonly id: string }>(rows: readonly T[]): ReadonlyMap<string, T> =>
  new Map(rows.map((row) => [row.id, row]))

/** The checks, metrics and evidence kinds by id, each in file order. */
export const CHECKS = byId(read('checks') as readonly CheckDefinition[])
export const METRICS = byId(read('metrics') as readonly MetricDefinition[])
export const EVIDENCE_KINDS = byId(read('evidence-kinds') as readonly EvidenceKindDefinition[])

const FILES: Readonly<Record<FrameworkId, string>> = {
  soc2: 'soc2',
  eu_ai_act: 'eu-ai-act',
  nist_ai_rmf: 'nist-ai-rmf',
}

const catalogueOf = (framework: FrameworkDefinition): Catalogue => {
  const controls = read(FILES[framework.id]) as readonly Control[]
  const shared = [CHECKS, METRICS, EVIDENCE_KINDS].map((rows) => [...rows.values()])
  return {
    framework,
    controls,
    sha256: hash('sha256', canonicalJson([framework, controls, ...shared]), 'hex'),
  }
}

/** The frameworks that reports can cover. */
export const CATALOGUES: ReadonlyMap<FrameworkId, Catalogue> = new Map(
  (read('frameworks') as readonly FrameworkDefinition[]).map((framework) => [
    framework.id,
    catalogueOf(framework),
  ]),
)

/** Returns the catalogue of a framework. */
export function catalogue(id: FrameworkId): Catalogue {
  const found = CATALOGUES.get(id)
  if (!found) throw new Error(`there is no catalogue for ${id}`)
  return found
}
