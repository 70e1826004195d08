import type { Chain } from './chain.ts'

/** Returns the limits of a result as sentences, so that it does not promise too much. */
export function limitsOf(
  chain: Chain,
  from: number,
  { isOpen, partial }: { readonly isOpen: boolean; readonly partial: boolean },
  hasKey: boolean,
): string[] {
  const { size, erased, unexplained, checkpoints, history } = chain
  const { record, recovered } = history
  const { outside } = checkpoints
  const sentences: readonly (readonly [boolean, string])[] = [
    [
      true,
      'The truth and completeness of the recorded data, including times: verification shows only that it was not changed.',
    ],
    [
      from > 0 && record === null,
      `The entries before seq ${from}: the state at that point was assumed to be correct.`,
    ],
    [
      record !== null,
      `The entries before seq ${from}: they were pruned, as entry ${record} records, and are in the export that it names.`,
    ],
    ...recovered.map(
      ({ seq, lost }) =>
        [
          true,
          `The entries ${lost.from_seq} to ${lost.to_seq} of an earlier history: lost in a restore from a backup, as entry ${seq} records.`,
        ] as const,
    ),
    [isOpen, `Entries after seq ${size - 1}: the export does not reach its signed end.`],
    [partial, `Entries after seq ${size - 1}: the export is a partial export.`],
    [
      !hasKey,
      'The signer: no key was given with --vkey, and a rewritten ledger would name its own key.',
    ],
    [
      outside < 0,
      'A rollback to an older signed state, or a rewrite by a holder of the signing key: only an external checkpoint can detect it (--checkpoint).',
    ],
    [
      !isOpen && !partial && outside < 0,
      'Missing entries at the end: no external checkpoint matched.',
    ],
    [
      !isOpen && !partial && outside >= 0,
      `Missing entries after the first ${outside}: the newest external checkpoint that matched has that size.`,
    ],
    [
      outside >= 0 && outside < size,
      `A rewrite of the entries from seq ${outside} on by a holder of the signing key: the newest external checkpoint ends there.`,
    ],
    [
      checkpoints.passed > 0,
      `The roots of ${checkpoints.passed} checkpoints: the tree at their size is unknown.`,
    ],
    [
      checkpoints.beyond > 0,
      `The roots of ${checkpoints.beyond} checkpoints beyond seq ${size - 1}: the entries that they cover are not in the export.`,
    ],
    [erased > 0, `The content of ${erased} erased payloads: only their commitments remain.`],
    [
      (isOpen || partial) && unexplained.size > 0,
      `The reason why ${unexplained.size} payloads are missing: a later entry may explain it.`,
    ],
  ]
  return sentences.filter(([applies]) => applies).map(([, sentence]) => sentence)
}
