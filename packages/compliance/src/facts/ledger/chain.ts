import type { CreateMeter, CheckFailure, CheckOutcome } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { isUse } from './recorded-use.ts'
import type { ChainFacts } from '../external-facts.ts'

/**
 * M02 to M04 and M08: the results of the verification up to the end of the period. The sequence
 * numbers of gaps are computed again to list the entries behind the finding.
 */
export const chainMeter: CreateMeter = ({ seqsOf }) => {
  const broken = seqsOf('LED-1')
  const breaks = seqsOf('LED-2')
  const disagreeing = seqsOf('LED-7')
  let kept = 0
  let used = 0
  let before: { readonly seq: number; readonly time: number } | null = null
  return {
    reads: ['*'],
    since: -Infinity,
    entry(entry, state, inPeriod) {
      const { seq, time } = entry
      kept += 1
      if (inPeriod && isUse(entry, state)) used += 1
      if (before && (seq !== before.seq + 1 || time < before.time)) breaks.add(seq)
      before = { seq, time }
    },
    end(_state, { chain }) {
      const { firstBadSeq, gaps, regressions, checkpoints, mismatches } = chain
      if (firstBadSeq !== null) broken.add(firstBadSeq)
      for (const { seq } of mismatches) disagreeing.add(seq)
      return {
        metrics: [
          {
            id: 'M02',
            value: {
              ok: firstBadSeq === null,
              verified_from_seq: chain.verifiedFromSeq,
              first_bad_seq: firstBadSeq,
            },
            population: kept,
          },
          { id: 'M03', value: gaps, population: Math.max(0, kept - 1) },
          { id: 'M04', value: regressions, population: Math.max(0, kept - 1) },
          {
            id: 'M08',
            value: { checked: checkpoints, mismatches: mismatches.length },
            population: Math.max(checkpoints, mismatches.length),
          },
        ],
        checks: [
          soundness(chain, kept, used),
          outcome({
            check: 'LED-2',
            population: Math.max(0, kept - 1),
            basis: used,
            value: { gaps, regressions },
            failures: failing(
              { count: gaps + regressions, seqs: breaks.seqs },
              { gaps, regressions },
            ),
          }),
          agreement(chain),
        ],
      }
    },
  }
}

const soundness = ({ firstBadSeq }: ChainFacts, kept: number, used: number): CheckOutcome =>
  outcome({
    check: 'LED-1',
    // An unreadable ledger is broken too, even without entries.
    population: firstBadSeq === null ? kept : Math.max(1, kept),
    basis: used,
    value: { first_bad_seq: firstBadSeq },
    failures:
      firstBadSeq === null
        ? []
        : [{ params: { first_bad_seq: firstBadSeq }, count: 1, seqs: [firstBadSeq] }],
  })

const agreement = ({ checkpoints, mismatches }: ChainFacts): CheckOutcome =>
  outcome({
    check: 'LED-7',
    population: Math.max(checkpoints, mismatches.length),
    value: { mismatches: mismatches.length },
    failures: mismatches.map(({ seq, keptBy }): CheckFailure => ({
      params: { report_id: keptBy, seq },
      count: 1,
      seqs: [seq],
    })),
  })
