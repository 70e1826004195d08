import { voteIn, VOTING } from './approvers.ts'
import { MomentReader } from './moment.ts'
import type { FactRow } from './entry.ts'
import { EvidenceMeter } from './evidence.ts'
import type { EvidenceUse } from './evidence.ts'
import type { EvidenceKind } from './evidence-sources.ts'
import { Cases, DAY } from './facts.ts'
import type { PeriodFacts, FactsQuery } from './facts.ts'
import { coversKind } from './meter.ts'
import type { FactMeter } from './meter.ts'
import { DECIDED, FactEntry } from './entry.ts'
import { METERS } from './meters.ts'
import type { ExternalFacts } from './external-facts.ts'
import { CheckEntries } from './outcome.ts'
import type { SeqGatherer } from './seqs.ts'
import { FactState } from './state/state.ts'
import { isRelaxed } from './thresholds.ts'

export interface FoldOptions {
  /** Collects the sequence numbers of one check or of evidence kinds. */
  readonly collect?: {
    readonly check?: string
    readonly kinds?: readonly EvidenceKind[]
    readonly into: SeqGatherer
  }
}

interface Reader {
  readonly meter: FactMeter
  readonly since: number
}

/** The readers of one entry kind, and its count in the period. */
interface Kind {
  readonly readers: readonly Reader[]
  readonly looks: EvidenceUse
  readonly isUse: boolean
  readonly isFolded: boolean
  count: number
}

/**
 * One pass over an organization's entries in order, with bounded memory: each goes to the meters that
 * read its kind, and then into the state.
 */
export class Fold {
  /** The state after the entries so far. */
  readonly state: FactState
  readonly #question: FactsQuery
  readonly #meters: readonly FactMeter[]
  readonly #evidence: EvidenceMeter
  readonly #use = new DaysOfUse()
  readonly #moments = new MomentReader()
  readonly #kinds = new Map<string, Kind>()
  #entries = 0
  #firstSeq: number | null = null
  #lastSeq: number | null = null
  #lastSeqBeforeEnd: number | null = null
  #oldestDecision: number | null = null

  constructor(question: FactsQuery, { collect }: FoldOptions = {}) {
    this.#question = question
    this.state = new FactState(question.from)
    this.#meters = METERS.map((create) =>
      create({
        question,
        seqsOf: (check) =>
          new CheckEntries(
            check,
            isRelaxed(question.thresholds, check),
            collect?.check === check ? collect.into : null,
          ),
      }),
    )
    this.#evidence = new EvidenceMeter(
      question,
      collect?.kinds === undefined ? null : { kinds: collect.kinds, into: collect.into },
    )
  }

  /**
   * Adds a pruned entry whose content a `state.carried` entry holds. It sets up the state, and
   * meters that look back before the period see it; it counts for nothing else. Call for all of
   * them, in order, before the first entry.
   */
  carry(row: FactRow): void {
    const time = this.#moments.read(row.recorded_at)
    const { from, to } = this.#question
    if (!(time < to)) return
    const entry = new FactEntry(row, time)
    const { readers } = this.#kindOf(row.kind)
    // Meters that look back have seen it; it is not an entry of a period that lost it.
    for (const { meter, since } of readers)
      if (since < from && time >= since && !isAboutRecord(meter))
        meter.entry(entry, this.state, false)
    this.state.apply(entry)
  }

  /** Adds the next entry; entries at or after the end of the period are ignored. */
  entry(row: FactRow): void {
    const time = this.#moments.read(row.recorded_at)
    const { from, to } = this.#question
    // Also skips entries without a valid time.
    if (!(time < to)) return
    const { seq } = row
    const kind = this.#kindOf(row.kind)
    const inPeriod = time >= from
    this.#lastSeqBeforeEnd = seq
    // An erased decision is no longer kept.
    if (row.kind === DECIDED && row.payload !== null) this.#oldestDecision ??= time
    if (inPeriod) {
      if (this.#entries === 0) this.#begin()
      this.#firstSeq ??= seq
      this.#lastSeq = seq
      this.#entries += 1
      kind.count += 1
    }
    const entry = new FactEntry(row, time)
    for (const { meter, since } of kind.readers)
      if (time >= since) meter.entry(entry, this.state, inPeriod)
    if (inPeriod) this.#evidence.entry(entry, this.state, kind.looks)
    if (inPeriod && kind.isUse) this.#use.add(entry)
    if (kind.isFolded) this.state.apply(entry)
  }

  /** Returns the facts. Call once, after the last entry. */
  end(outside: ExternalFacts): PeriodFacts {
    const { state } = this
    if (this.#entries === 0) this.#begin()
    const measured = this.#meters.map((meter) => meter.end(state, outside, this.#oldestDecision))
    const { organization } = state
    return {
      question: this.#question,
      organization: {
        id: this.#question.orgId,
        // Before the organization existed, only its id is known.
        name: organization?.name ?? this.#question.orgId,
        plan: organization?.plan ?? null,
        createdAt: organization?.createdAt ?? null,
      },
      ledger: {
        entries: this.#entries,
        firstSeq: this.#firstSeq,
        lastSeq: this.#lastSeq,
        byKind: Object.fromEntries(this.#counts()),
        lastSeqBeforeEnd: this.#lastSeqBeforeEnd,
      },
      days: this.#days,
      metrics: measured.flatMap(({ metrics }) => metrics).toSorted(byId),
      checks: measured.flatMap(({ checks }) => checks),
      evidence: this.#evidence.end(state, this.#oldestDecision),
      entries: new Map(),
      outside,
    }
  }

  #begin(): void {
    for (const meter of this.#meters) meter.begin?.(this.state)
    this.#evidence.begin(this.state)
  }

  get #days(): PeriodFacts['days'] {
    const { to } = this.#question
    const since = (begin: number | null): number =>
      begin === null ? 0 : Math.max(0, Math.floor((to - begin) / DAY))
    return {
      use: this.#use.count,
      first_to_last: Math.floor(this.#use.spanMs / DAY),
      record: since(this.#oldestDecision),
      organization: since(this.state.organization?.createdAt ?? this.#oldestDecision),
    }
  }

  /** Returns the number of entries of the period by kind. */
  #counts(): [string, number][] {
    return [...this.#kinds]
      .flatMap(([kind, { count }]): [string, number][] => (count > 0 ? [[kind, count]] : []))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  }

  #kindOf(kind: string): Kind {
    const known = this.#kinds.get(kind)
    if (known) return known
    const readers = this.#meters
      .filter(({ reads }) => reads.some((one) => coversKind(one, kind)))
      .map((meter) => ({ meter, since: sinceOf(meter, kind) ?? this.#question.from }))
    const made: Kind = {
      readers,
      looks: this.#evidence.looksFor(kind),
      isUse: DaysOfUse.kinds.includes(kind),
      isFolded: FactState.reads(kind),
      count: 0,
    }
    this.#kinds.set(kind, made)
    return made
  }
}

const sinceOf = ({ since }: FactMeter, kind: string): number | undefined =>
  typeof since === 'function' ? since(kind) : since

/** A meter that reads all kinds is about the record itself. */
const isAboutRecord = ({ reads }: FactMeter): boolean => reads.includes('*')

const byId = (a: { readonly id: string }, b: { readonly id: string }): number =>
  a.id < b.id ? -1 : 1

/**
 * The days of a period on which the organization used Remit: those with a decision or a vote. Changes
 * alone are preparation.
 */
class DaysOfUse {
  static readonly kinds: readonly string[] = [DECIDED, ...VOTING]
  readonly #uses = new Cases()
  #first: number | null = null
  #last: number | null = null

  /** Adds an entry of one of the kinds in the period. */
  add(entry: FactEntry): void {
    const { kind, time, erased } = entry
    if (kind === DECIDED ? erased : voteIn(entry) === null) return
    this.#uses.add(time)
    this.#first ??= time
    this.#last = time
  }

  get count(): number {
    return this.#uses.days
  }

  /** Milliseconds from the first to the last use; 0 without use. */
  get spanMs(): number {
    return this.#first === null || this.#last === null ? 0 : Math.max(0, this.#last - this.#first)
  }
}
