import type { ChainCheckpoints } from './checkpoints.ts'
import type { Recovery } from './report.ts'

interface Facts {
  readonly from: number
  /** The entry that records why nothing is before `from`. */
  readonly recorded: number | null
  readonly recovered: readonly Recovery[]
  readonly size: number
  readonly stopped: boolean
  readonly continues: boolean
  readonly incomplete: boolean
  readonly deep: boolean
  readonly pinned: boolean
  readonly redacted: number
  /** Missing payloads for which a reason may lie further on. */
  readonly unexplained: number
  readonly checkpoints: ChainCheckpoints
}

/**
 * What a verification did not look at or cannot see, in plain sentences. A verdict without them
 * would promise more than arithmetic can keep.
 */
export function notChecked(facts: Facts): string[] {
  const { from, size, checkpoints, redacted, unexplained } = facts
  const { externalSize, uncompared } = checkpoints
  const list = [
    'Whether what was recorded is true and complete, times included: only that it was not changed.',
  ]
  const say = (applies: boolean, sentence: string) => {
    if (applies) list.push(sentence)
  }

  if (facts.recorded === null) {
    say(from > 0, `The entries before seq ${from}: the state there was taken as given.`)
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
  say(facts.incomplete, `What follows seq ${size - 1}: the source ended there, before its end.`)
  say(facts.stopped, `What follows seq ${size - 1}: it was not asked for.`)
  say(facts.continues, `What follows seq ${size - 1}: it was left out on purpose.`)
  say(
    !facts.pinned,
    'Who signed: no trusted key was given, and a rewritten ledger would name a key of its own.',
  )
  const isEnd = !facts.stopped && !facts.incomplete && !facts.continues
  say(
    isEnd && externalSize < 0,
    'Whether entries are missing at the end: no checkpoint from outside agreed.',
  )
  say(
    isEnd && externalSize >= 0,
    `Whether entries after the first ${externalSize} are missing at the end: the newest checkpoint from outside that agreed has that size.`,
  )
  say(
    externalSize < 0,
    'A return to an older signed state, or a rewrite by a holder of the signing key: only a checkpoint kept outside shows it.',
  )
  say(
    externalSize >= 0 && externalSize < size,
    `The entries from seq ${externalSize} on against a holder of the signing key: the newest checkpoint from outside ends there.`,
  )
  say(
    uncompared.length > 0,
    `The roots of ${uncompared.length} checkpoints: the tree at their size was not known.`,
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
    `Why ${unexplained} payloads are missing: an entry that explains it may follow.`,
  )
  say(!facts.deep, 'Whether payloads are well-formed inside: only their hashes were compared.')
  return list
}
