import type { ReadyReport } from '@remit/contract'
import { LRUCache } from 'lru-cache'
import type { EvidenceRequest, Jobs } from '../jobs/jobs.ts'
import type { SeqRun } from '../facts/index.ts'
import { reportQueryFor } from './generate.ts'

export interface EvidenceRunOptions {
  /** The maximum numbers that one pass collects. */
  readonly length?: number
  /** The maximum cache size for all reports. */
  readonly maxBytes?: number
}

// 2 MB: a million entries behind a control are four passes.
const LENGTH = 250_000
const MAX_BYTES = 16 * 1024 * 1024
/** The minimum size of a cached run. */
const LEAST_BYTES = 1024

/** The evidence of a report after a sequence number. */
interface EvidencePage {
  readonly orgId: string
  readonly report: Pick<ReadyReport, 'id' | 'period' | 'content_sha256'>
  readonly of: EvidenceRequest['of']
  readonly afterSeq: number | null
}

interface CachedRun extends SeqRun {
  readonly after: number
}

/**
 * Caches the numbers that pages of evidence are cut from. One pass over the ledger collects those
 * of many pages, and this process caches the most recent ones: the evidence of a report does not
 * change. Without a cached run, for example after a restart, another pass continues from the same
 * position.
 */
export class EvidenceRuns {
  readonly #jobs: Pick<Jobs, 'evidence'>
  readonly #length: number
  readonly #known: LRUCache<string, CachedRun>

  constructor(
    jobs: Pick<Jobs, 'evidence'>,
    { length = LENGTH, maxBytes = MAX_BYTES }: EvidenceRunOptions = {},
  ) {
    this.#jobs = jobs
    this.#length = length
    this.#known = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf })
  }

  /**
   * Returns up to `limit` numbers, and whether others follow. It may return fewer although others
   * follow.
   */
  async page(
    asked: EvidencePage,
    limit: number,
    signal: AbortSignal,
  ): Promise<{ readonly seqs: number[]; readonly isLast: boolean }> {
    const { orgId, report, of } = asked
    const after = asked.afterSeq ?? -1
    const name = JSON.stringify([orgId, report.id, report.content_sha256, of])
    const known = this.#find(name, after) ?? (await this.#read(asked, signal))
    this.#known.set(name, known)
    const begin = firstAbove(known.seqs, after)
    const seqs = [...known.seqs.subarray(begin, begin + limit)]
    return { seqs, isLast: known.isWhole && begin + limit >= known.seqs.length }
  }

  /** Returns null if no cached run covers the numbers after `after`. */
  #find(name: string, after: number): CachedRun | null {
    const known = this.#known.get(name)
    if (!known || after < known.after) return null
    return known.isWhole || after < (known.seqs.at(-1) ?? -1) ? known : null
  }

  async #read(
    { orgId, report, of, afterSeq }: EvidencePage,
    signal: AbortSignal,
  ): Promise<CachedRun> {
    const wanted = {
      question: reportQueryFor(orgId, report.period),
      of,
      afterSeq,
      most: this.#length,
    }
    const run = await this.#jobs.evidence(orgId, wanted, { signal })
    return { ...run, after: afterSeq ?? -1 }
  }
}

const bytesOf = ({ seqs }: CachedRun): number => seqs.byteLength + LEAST_BYTES

/** The index of the first number above `after`. */
function firstAbove(seqs: Float64Array, after: number): number {
  let low = 0
  let high = seqs.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((seqs[middle] ?? 0) > after) high = middle
    else low = middle + 1
  }
  return low
}
