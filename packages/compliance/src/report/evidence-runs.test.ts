import { describe, expect, it } from 'vitest'
import { SeqGatherer } from '../facts/index.ts'
import type { EvidenceRequest } from '../jobs/jobs.ts'
import { EvidenceRuns } from './evidence-runs.ts'

const signal = new AbortController().signal
const reportOf = (id: string, content_sha256 = 'a') => ({
  orgId: 'org',
  report: { id, content_sha256, period: { from: '2026-01-01', to: '2026-02-01' } },
})
const of = { check: 'DEC-1' }

/** Runs over a ledger in which every number up to `count` is evidence, and how often it was read. */
function runsOver(count: number, options: { length?: number; maxBytes?: number } = {}) {
  const { length = 10, maxBytes } = options
  const read: (number | null)[] = []
  const evidence = (_orgId: string, { afterSeq, most }: EvidenceRequest) => {
    read.push(afterSeq)
    const into = new SeqGatherer(afterSeq, most)
    for (let seq = 0; seq < count; seq++) into.add(seq)
    return Promise.resolve(into.run)
  }
  return { read, runs: new EvidenceRuns({ evidence }, { length, ...(maxBytes && { maxBytes }) }) }
}

async function everything(
  runs: EvidenceRuns,
  from: ReturnType<typeof reportOf>,
  limit: number,
): Promise<number[]> {
  const found: number[] = []
  for (;;) {
    const asked = { ...from, of, afterSeq: found.at(-1) ?? null }
    const { seqs, isLast } = await runs.page(asked, limit, signal)
    found.push(...seqs)
    if (isLast) return found
  }
}

describe('remembered evidence', () => {
  it.each([0, 1, 9, 10, 11, 20, 57])('%i numbers come each once and in order', async (count) => {
    const { runs } = runsOver(count)
    const all = Array.from({ length: count }, (_, i) => i)

    for (const limit of [1, 3, 10, 100])
      expect(await everything(runs, reportOf(`rpt_${limit}`), limit)).toEqual(all)
  })

  it('takes one reading for as many as are gathered at once', async () => {
    const { runs, read } = runsOver(35)
    await everything(runs, reportOf('rpt_1'), 2)

    expect(read).toEqual([null, 9, 19, 29])
  })

  it('is of one report, one content and one question', async () => {
    const { runs, read } = runsOver(5)
    const page = (from: ReturnType<typeof reportOf>, what: EvidenceRequest['of']) =>
      runs.page({ ...from, of: what, afterSeq: null }, 2, signal)
    for (let i = 0; i < 2; i++) {
      await page(reportOf('rpt_1'), of)
      await page(reportOf('rpt_2'), of)
      await page(reportOf('rpt_1', 'b'), of)
      await page(reportOf('rpt_1'), { kinds: ['guard_checks'] })
    }

    expect(read).toHaveLength(4)
  })

  it('reads again from an earlier place than it knows', async () => {
    const { runs } = runsOver(35)
    await runs.page({ ...reportOf('rpt_1'), of, afterSeq: 19 }, 5, signal)
    const { seqs } = await runs.page({ ...reportOf('rpt_1'), of, afterSeq: null }, 5, signal)

    expect(seqs).toEqual([0, 1, 2, 3, 4])
  })

  it('stays within its memory limit: the least recently used is read again', async () => {
    const { runs, read } = runsOver(10, { maxBytes: 2 * (1024 + 80) })
    const ask = (id: string) => runs.page({ ...reportOf(id), of, afterSeq: null }, 2, signal)
    for (const id of ['1', '2', '1', '3', '1', '2']) await ask(id)

    expect(read).toHaveLength(4)
  })
})
