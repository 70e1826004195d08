import type { Chain } from './chain.ts'

/** What a verdict does not say, in plain sentences: without them it would promise too much. */
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
      'Whether what was recorded is true and complete, times included: only that it was not changed.',
    ],
    [
      from > 0 && record === null,
      `The entries before seq ${from}: the state there was taken as given.`,
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
    [isOpen, `What follows seq ${size - 1}: the export does not lead to its signed end.`],
    [partial, `What follows seq ${size - 1}: the export says that it is a part.`],
    [
      !hasKey,
      'Who signed: no key was given with --vkey, and a rewritten ledger would name a key of its own.',
    ],
    [
      outside < 0,
      'A return to an older signed state, or a rewrite by a holder of the signing key: only a checkpoint that was kept elsewhere shows it (--checkpoint).',
    ],
    [
      !isOpen && !partial && outside < 0,
      'Whether entries are missing at the end: no checkpoint that was kept elsewhere agreed.',
    ],
    [
      !isOpen && !partial && outside >= 0,
      `Whether entries after the first ${outside} are missing at the end: the newest checkpoint from elsewhere that agreed has that size.`,
    ],
    [
      outside >= 0 && outside < size,
      `The entries from seq ${outside} on against a holder of the signing key: the newest checkpoint from elsewhere ends there.`,
    ],
    [
      checkpoints.passed > 0,
      `The roots of ${checkpoints.passed} checkpoints: the tree at their size is not known.`,
    ],
    [
      checkpoints.beyond > 0,
      `The roots of ${checkpoints.beyond} checkpoints beyond seq ${size - 1}: the entries that they cover are not in the export.`,
    ],
    [erased > 0, `The content of ${erased} erased payloads: only their commitments remain.`],
    [
      (isOpen || partial) && unexplained.size > 0,
      `Why ${unexplained.size} payloads are missing: an entry that explains it may follow.`,
    ],
  ]
  return sentences.filter(([applies]) => applies).map(([, sentence]) => sentence)
}
