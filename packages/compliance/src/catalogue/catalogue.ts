import { hash } from 'node:crypto'
import { canonicalJson } from '@remit/contract/json'
import type { Framework as FrameworkId } from '@remit/contract'
import { byId, EVIDENCE_KINDS, readRows } from '../facts/evidence-kinds.ts'
import type {
  Catalogue,
  CheckDefinition,
  Control,
  FrameworkDefinition,
  MetricDefinition,
} from './definitions.ts'

/** The checks and metrics by id, each in file order. */
export const CHECKS = byId(readRows('checks') as readonly CheckDefinition[])
export const METRICS = byId(readRows('metrics') as readonly MetricDefinition[])

const FILES: Readonly<Record<FrameworkId, string>> = {
  soc2: 'soc2',
  eu_ai_act: 'eu-ai-act',
  nist_ai_rmf: 'nist-ai-rmf',
}

const catalogueOf = (framework: FrameworkDefinition): Catalogue => {
  const controls = readRows(FILES[framework.id]) as readonly Control[]
  const shared = [CHECKS, METRICS, EVIDENCE_KINDS].map((rows) => [...rows.values()])
  return {
    framework,
    controls,
    sha256: hash('sha256', canonicalJson([framework, controls, ...shared]), 'hex'),
  }
}

/** The frameworks that reports can cover. */
export const CATALOGUES: ReadonlyMap<FrameworkId, Catalogue> = new Map(
  (readRows('frameworks') as readonly FrameworkDefinition[]).map((framework) => [
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
