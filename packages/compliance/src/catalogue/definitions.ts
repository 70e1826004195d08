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
  /** Sentences about the evidence in the record; empty only for manual coverage. */
  readonly shows: readonly string[]
  /** Sentences about the evidence that the organization must supply. */
  readonly supply: readonly string[]
  /** Checks of which at least one must have passed, besides what holds for every control. */
  readonly requires?: readonly string[]
}

type ControlsByFramework = Readonly<Record<FrameworkId, readonly string[]>>

/** The least that a check needs to pass. */
export interface Least {
  readonly population: number
  /** The counted cases, in words. */
  readonly of: string
  readonly days: number
  /** Days of record within the period, of record altogether, or since the organization was created. */
  readonly over: 'period' | 'record' | 'organization'
}

/** What must hold for a control to be more than shown. */
export interface CheckDefinition {
  readonly id: string
  readonly metric: string
  readonly title: string
  readonly applies_when: string
  readonly passes_when: string
  readonly severity: Severity
  /** From how many, over how many days, it may pass; below that it is `too_small` or `too_young`. */
  readonly least: Least
  /** True if a pass is evidence for a control; otherwise only a failure counts. */
  readonly carries: boolean
  /** Text with `{parameters}`; `{n|one|many}` is a number with the word that goes with it. */
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
  /** Controls for serious failures that none in scope names: the first in scope is theirs. */
  readonly fallback: readonly string[]
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
