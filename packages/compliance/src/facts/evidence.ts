import type { FactEntry } from './entry.ts'
import { EVIDENCE_SOURCES } from './evidence-sources.ts'
import type { EvidenceKind, EvidenceSource } from './evidence-sources.ts'
import { readsOf } from './evidence-kinds.ts'
import { coversKind } from './meter.ts'
import { DAY } from './facts.ts'
import type { FactsQuery } from './facts.ts'
import { SeqSample } from './seqs.ts'
import type { SeqGatherer } from './seqs.ts'
import type { FactState } from './state/state.ts'

export type Idle = 'not_configured' | 'not_exercised' | 'too_young'

/** The entries of one evidence kind in a period, and whether it operated. */
export interface Evidence {
  readonly kind: EvidenceKind
  readonly operated: boolean
  /** The reason why it did not operate; null if it did. */
  readonly reason: Idle | null
  /**
   * Entries of the period and earlier ones whose objects still existed; the first and last, and at
   * most 25.
   */
  readonly count: number
  readonly firstSeq: number | null
  readonly lastSeq: number | null
  readonly sample: readonly number[]
}

interface Gathered {
  readonly kind: EvidenceKind
  readonly source: EvidenceSource
  readonly sample: SeqSample
  readonly into: SeqGatherer | null
  isAtWork: boolean
}

/** The use of entries of one kind. */
export interface EvidenceUse {
  readonly counts: readonly Gathered[]
  readonly works: readonly Gathered[]
}

/** Gathers the evidence of a period. */
export class EvidenceMeter {
  readonly #question: FactsQuery
  readonly #gathered: readonly Gathered[]

  constructor(
    question: FactsQuery,
    collect: { readonly kinds: readonly EvidenceKind[]; readonly into: SeqGatherer } | null,
  ) {
    this.#question = question
    // All kinds that read the whole ledger share one sample.
    const ledger = new SeqSample()
    const kinds = Object.keys(EVIDENCE_SOURCES) as EvidenceKind[]
    this.#gathered = kinds.map((kind) => ({
      kind,
      source: EVIDENCE_SOURCES[kind],
      sample: readsOf(kind).includes('*') ? ledger : new SeqSample(),
      into: collect?.kinds.includes(kind) ? collect.into : null,
      isAtWork: false,
    }))
  }

  /** Adds an entry of the period, with the state before it. */
  entry(entry: FactEntry, state: FactState, { counts, works }: EvidenceUse): void {
    const { seq } = entry
    for (const { source, sample, into } of counts) {
      if (source.counts?.(entry, state) === false) continue
      sample.add(seq)
      into?.add(seq)
    }
    for (const one of works) {
      if (one.isAtWork) continue
      one.isAtWork = (one.source.works ?? one.source.counts)?.(entry, state) ?? true
    }
  }

  /** `oldestDecision`: milliseconds; null if no decision is kept. */
  end(state: FactState, oldestDecision: number | null): Evidence[] {
    return this.#gathered.map((one) => {
      const { kind, sample } = one
      const operated = this.#isOperated(one, state, oldestDecision)
      return {
        kind,
        operated,
        reason: operated ? null : this.#whyNot(one, oldestDecision),
        count: sample.count,
        firstSeq: sample.firstSeq,
        lastSeq: sample.lastSeq,
        sample: sample.seqs,
      }
    })
  }

  #isOperated(
    { kind, isAtWork }: Gathered,
    { issuers }: FactState,
    oldestDecision: number | null,
  ): boolean {
    const { to, thresholds } = this.#question
    if (kind === 'log_retention')
      return oldestDecision !== null && to - oldestDecision >= thresholds.retention_days * DAY
    // A verification of a ledger without decisions and votes reviews nothing.
    if (kind === 'report_history') return isAtWork && this.#isUsed
    if (kind !== 'trusted_issuers' || isAtWork) return isAtWork
    return [...issuers.values()].some(
      ({ enabled, expiresAt }) => enabled && (expiresAt === null || to < expiresAt),
    )
  }

  #whyNot({ kind, source }: Gathered, oldestDecision: number | null): Idle {
    if (kind === 'log_retention') return oldestDecision === null ? 'not_exercised' : 'too_young'
    // Approval rules request decisions of people.
    const isSetUp = (of: EvidenceKind) =>
      this.#gathered.some((one) => one.kind === of && one.sample.count > 0)
    if (kind === 'approval_decisions')
      return isSetUp('approval_rules') ? 'not_exercised' : 'not_configured'
    return source.standing && !isSetUp(kind) ? 'not_configured' : 'not_exercised'
  }

  /** Returns whether the period has a decision or a vote. */
  get #isUsed(): boolean {
    return this.#gathered.some(({ kind, isAtWork }) => kind === 'ledger_integrity' && isAtWork)
  }

  /** Adds the objects that existed when the period began. */
  begin(state: FactState): void {
    for (const one of this.#gathered) {
      const { source, sample, into } = one
      if (!source.standing) continue
      const seqs = new Set<number>()
      for (const { changedSeq } of source.standing(state, this.#question.from)) seqs.add(changedSeq)
      if (source.worksByStanding && seqs.size > 0) one.isAtWork = true
      for (const seq of [...seqs].toSorted((a, b) => a - b)) {
        sample.add(seq)
        into?.add(seq)
      }
    }
  }

  /** Returns the evidence that reads entries of a kind. */
  looksFor(kind: string): EvidenceUse {
    const reading = (reads: readonly string[]) => reads.some((one) => coversKind(one, kind))
    const counting = this.#gathered.filter(({ kind: of }) => reading(readsOf(of)))
    return {
      // Three evidence kinds share the sample of the ledger.
      counts: counting.filter(
        ({ sample, into }, i) => into || counting.findIndex((one) => one.sample === sample) === i,
      ),
      works: this.#gathered.filter(({ kind: of, source }) =>
        reading(source.worksIn ?? readsOf(of)),
      ),
    }
  }
}
