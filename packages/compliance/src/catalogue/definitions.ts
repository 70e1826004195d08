import type { Framework as FrameworkId, FrameworkRole, Severity } from '@remit/contract'
import type { EvidenceKind, PeriodFacts } from '../facts/index.ts'

/** A criterion, provision or subcategory, paraphrased. */
export interface Control {
  readonly id: string
  readonly title: string
  readonly summary: string
  /** Kinds of evidence; the first is the primary one. Empty exactly where the coverage is manual. */
  readonly evidence: readonly EvidenceKind[]
  readonly coverage: 'automated' | 'partial' | 'manual'
  /** Sentences about the evidence that the organization must supply. */
  readonly supply: readonly string[]
  /** Checks of which at least one must have passed, in addition to the general conditions. */
  readonly requires?: readonly string[]
}

type ControlsByFramework = Readonly<Record<FrameworkId, readonly string[]>>

/** The minimum data that a check needs to pass. */
export interface MinimumData {
  readonly population: number
  /** The counted cases, as a noun. */
  readonly of: string
  readonly days: number
  /** The counted days: those of the cases, or of the period and the record. */
  readonly over: 'cases' | keyof PeriodFacts['days']
}

/** A computed criterion that controls depend on. */
export interface CheckDefinition {
  readonly id: string
  readonly metric: string
  readonly title: string
  readonly applies_when: string
  readonly passes_when: string
  readonly severity: Severity
  /** The minimum number of cases and days; below it, the result is `too_small` or `too_young`. */
  readonly least: MinimumData
  /** True if a pass is evidence for a control; otherwise only a failure counts. */
  readonly carries: boolean
  /** Text with `{parameters}`; `{n|one|many}` is a number with its singular or plural noun. */
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

export interface FrameworkDefinition {
  readonly id: FrameworkId
  readonly name: string
  readonly version: string
  readonly publisher: string
  /** The number of controls. */
  readonly controls: number
  /** The controls in the default scope; all if undefined. */
  readonly default_scope?: readonly string[]
  /** The categories and their numbers of controls. */
  readonly groups?: Readonly<Record<string, number>>
  /** The role that each control applies to. */
  readonly roles?: Readonly<Record<string, FrameworkRole>>
  /**
   * Controls that receive serious failures that no control in scope names; the first one in scope
   * is used.
   */
  readonly fallback: readonly string[]
  readonly notice: string
  readonly catalog_version: string
}

/** A framework with its controls, in its own order. */
export interface Catalogue {
  readonly framework: FrameworkDefinition
  readonly controls: readonly Control[]
  /** SHA-256 of the canonical JSON of all data that a report on the framework is computed with. */
  readonly sha256: string
}
