import type { ChainCheckpoints } from './checkpoints.ts'
import type { Recovery } from './report.ts'

interface Facts {
  readonly from: number
  /** The entry that records why no entries precede `from`. */
  readonly recorded: number | null
  readonly recovered: readonly Recovery[]
  readonly size: number
  readonly stopped: boolean
  readonly continues: boolean
  readonly incomplete: boolean
  readonly deep: boolean
  readonly pinned: boolean
  readonly redacted: number
  /** Missing payloads that a later entry may explain. */
  readonly unexplained: number
  readonly checkpoints: ChainCheckpoints
}

/**
 * Returns the limits of a verification as sentences, so that the result does not promise too much.
 */
export function notChecked(facts: Facts): string[] {
  const { from, size, checkpoints, redacted, unexplained } = facts
  const { externalSize, uncompared } = checkpoints
  const list = [
    'The truth and completeness of the recorded data, including times: verification shows only that it was not changed.',
  ]
  const say = (applies: boolean, sentence: string) => {
    if (applies) list.push(sentence)
  }

  if (facts.recorded === null) {
    say(
      from > 0,
      `The entries before seq ${from}: the state at that point was assumed to be correct.`,
    )
  } else {
    list.push(
      `The entries before seq ${from}: they were pruned, as entry ${facts.recorded} records, and are in the export that it names.`,
    )
  }
  for (const { seq, lost } of facts.recovered) {
    list.push(
      `The entries ${lost.from_seq} to ${lost.to_seq} of an earlier history: lost in a restore from a backup, as entry ${seq} records.`,
    )
  }
  say(
    facts.incomplete,
    `Entries after seq ${size - 1}: the source ended there, before its signed end.`,
  )
  say(facts.stopped, `Entries after seq ${size - 1}: they were not requested.`)
  say(facts.continues, `Entries after seq ${size - 1}: the export is a partial export.`)
  say(
    !facts.pinned,
    'The signer: no trusted key was given, and a rewritten ledger would name its own key.',
  )
  const isEnd = !facts.stopped && !facts.incomplete && !facts.continues
  say(isEnd && externalSize < 0, 'Missing entries at the end: no external checkpoint matched.')
  say(
    isEnd && externalSize >= 0,
    `Missing entries after the first ${externalSize}: the newest external checkpoint that matched has that size.`,
  )
  say(
    externalSize < 0,
    'A rollback to an older signed state, or a rewrite by a holder of the signing key: only an external checkpoint can detect it.',
  )
  say(
    externalSize >= 0 && externalSize < size,
    `A rewrite of the entries from seq ${externalSize} on by a holder of the signing key: the newest external checkpoint ends there.`,
  )
  say(
    uncompared.length > 0,
    `The roots of ${uncompared.length} checkpoints: the tree at their size was unknown.`,
  )
  say(
    checkpoints.beyond > 0,
    `The roots of ${checkpoints.beyond} checkpoints beyond seq ${size - 1}: the entries that they cover were not read.`,
  )
  say(
    checkpoints.unsigned > 0,
    `The signatures of ${checkpoints.unsigned} older checkpoints: their roots are those of the entries, and newer checkpoints cover them.`,
  )
  say(redacted > 0, `The content of ${redacted} erased payloads: only their commitments remain.`)
  say(
    unexplained > 0,
    `The reason why ${unexplained} payloads are missing: a later entry may explain it.`,
  )
  say(!facts.deep, 'The structure of the payloads: only their hashes were compared.')
  return list
}
