import type { Framework as FrameworkId, FrameworkRole, Severity } from '@remit/contract'
import type { EvidenceKind as KindName } from '../facts/index.ts'

/** A criterion, provision or subcategory, in our own words. */
export interface Control {
  readonly id: string
  readonly title: string
  readonly summary: string
  /** Kinds of evidence; the first is the primary one. Empty exactly where the coverage is manual. */
  readonly evidence: readonly KindName[]
  readonly coverage: 'automated' | 'partial' | 'manual'
  /** What is shown here, and what the organization must supply. */
  readonly rationale: string
}

type ControlsByFramework = Readonly<Record<FrameworkId, readonly string[]>>

/** What must hold for a control to be more than shown. */
export interface CheckDefinition {
  readonly id: string
  readonly metric: string
  readonly title: string
  readonly applies_when: string
  readonly passes_when: string
  readonly severity: Severity
  /** Text with `{parameters}`. */
  readonly finding: string
  readonly controls: ControlsByFramework
}

export interface MetricDefinition {
  readonly id: string
  readonly name: string
  readonly unit: string
  readonly formula: string
  readonly evidence: readonly string[]
  readonly checks: readonly string[]
  readonly controls: ControlsByFramework
}

/** A kind of evidence: the entries it reads, what it shows at the end, and what counts as operation. */
export interface EvidenceKind {
  readonly id: string
  readonly title: string
  /** Kinds of entries; `policy.*` is all that begin so, `*` all. */
  readonly reads: readonly string[]
  readonly state: string
  readonly operated: string
}

export interface FrameworkDefinition {
  readonly id: FrameworkId
  readonly name: string
  readonly version: string
  readonly publisher: string
  /** How many controls it has. */
  readonly controls: number
  /** The controls that are reported on unless asked otherwise; all where it is not given. */
  readonly default_scope?: readonly string[]
  /** Its categories with the number of their controls. */
  readonly groups?: Readonly<Record<string, number>>
  /** Whom each control concerns. */
  readonly roles?: Readonly<Record<string, FrameworkRole>>
  readonly notice: string
  readonly catalog_version: string
}

/** A framework with its controls, in its own order. */
export interface Catalogue {
  readonly framework: FrameworkDefinition
  readonly controls: readonly Control[]
  /** SHA-256 over the canonical JSON of everything that a report on it is made with. */
  readonly sha256: string
}
