import { Chain } from './chain.ts'
import { Faults } from './faults.ts'
import type { Fault } from './faults.ts'
import type { Pruning, Recovery } from './history.ts'
import { readLine } from './lines.ts'
import type { Entry, Header } from './lines.ts'
import { isSignedBy } from './note.ts'
import type { Key } from './note.ts'
import { readCheckpoint } from './pure.ts'

export interface ExportOptions {
  /** Trusted keys, from outside the export. */
  readonly keys?: readonly Key[]
  /** The key that must have signed external checkpoints, from the first one on that it signed. */
  readonly witness?: Key
  /** External checkpoints. */
  readonly checkpoints?: readonly string[]
  /** Called with the first line before any comparison; an exception aborts the verification. */
  readonly onHeader?: (header: Header) => void
  /** Called with each entry as it was written. */
  readonly onEntry?: (entry: Entry) => void
}

/** The result of docs/ledger-format.md section 10. */
export interface ExportVerdict {
  readonly status: 'ok' | 'tampered' | 'behind_checkpoint' | 'incomplete'
  readonly org_id: string | null
  readonly ledger_id: string | null
  readonly checked: { readonly from_seq: number; readonly to_seq: number; readonly entries: number }
  readonly head: { readonly seq: number; readonly hash: string | null }
  readonly root: string | null
  readonly anchored_by: 'external' | 'signature' | 'none'
  /** True if an external checkpoint covers the last entry, none is ahead of it and all agree. */
  readonly truncation_checked: boolean
  readonly redacted: number
  /** The newest hundred recorded prunings and restores. */
  readonly pruned: readonly Pruning[]
  readonly recovered: readonly Recovery[]
  readonly first_invalid: Pick<Fault, 'seq' | 'code'> | null
  /** The first hundred errors, by sequence number. */
  readonly errors: readonly Fault[]
  readonly error_count: number
  readonly gaps: number
  readonly checkpoints: { readonly checked: number; readonly mismatched: number }
  /** Limits of this result as sentences. Never empty. */
  readonly not_checked: readonly string[]
}

/** Verifies an export, line by line: docs/ledger-format.md sections 8 and 10. */
export async function verifyExport(
  lines: AsyncIterable<string> | Iterable<string>,
  options: ExportOptions = {},
): Promise<ExportVerdict> {
  const faults = new Faults()
  let chain: Chain | null = null
  let header: Header | null = null
  let ended = false
  // An invalid line is harmless only if the file was truncated within it.
  let unread = false
  for await (const text of lines) {
    const line = readLine(text)
    if (header === null || chain === null) {
      if (line?.type !== 'header') break
      header = line
      options.onHeader?.(header)
      chain = begin(line, options, faults)
      continue
    }
    if (unread || ended) faults.add(chain.size, 'malformed_line')
    unread = false
    if (ended) continue
    if (line?.type === 'entry') {
      chain.entry(line)
      options.onEntry?.(line)
    } else if (line?.type === 'checkpoint') {
      chain.checkpoint(line.note, false)
      ended = true
    } else {
      unread = true
    }
  }
  if (header === null || chain === null) return noExport(faults, options)
  // Without the state before its first entry, the entries cannot be connected to the signed root.
  const isOpen = !ended || (header.from_seq > 0 && header.start === undefined)
  chain.end(isOpen)
  return verdictOf(header, chain, faults, isOpen, options)
}

function begin(
  header: Header,
  { keys = [], witness, checkpoints = [] }: ExportOptions,
  faults: Faults,
): Chain {
  const chain = new Chain(header, keys, faults)
  const since = witness === undefined ? Infinity : witnessedFrom(checkpoints, witness)
  for (const note of checkpoints) {
    const checkpoint = readCheckpoint(note)
    const isMissing = witness !== undefined && checkpoint !== null && checkpoint.size >= since
    if (isMissing && !isSignedBy(note, witness)) chain.checkpoints.refuseUnwitnessed(checkpoint)
    else chain.checkpoint(note, true)
  }
  return chain
}

/** The size of the smallest checkpoint that the witness signed; 0, so that all must be, if none is. */
function witnessedFrom(notes: readonly string[], witness: Key): number {
  const signed = notes.filter((note) => isSignedBy(note, witness))
  return signed.reduce(
    (least, note) => Math.min(least, readCheckpoint(note)?.size ?? least),
    signed.length === 0 ? 0 : Infinity,
  )
}

function noExport(faults: Faults, options: ExportOptions): ExportVerdict {
  faults.add(0, 'malformed_line', 'the first line is not the header of an export')
  const none = {
    type: 'header',
    org_id: '',
    ledger_id: '',
    origin: '',
    vkey: '',
    from_seq: 0,
  } as const
  const verdict = verdictOf(none, new Chain(none, [], faults), faults, true, options)
  return { ...verdict, org_id: null, ledger_id: null }
}

function verdictOf(
  { org_id, ledger_id, from_seq, ...header }: Header,
  chain: Chain,
  faults: Faults,
  isOpen: boolean,
  options: ExportOptions,
): ExportVerdict {
  const { size, entries, erased, gaps, checkpoints, history, lastHash, root } = chain
  const partial = header.partial === true
  const ends = isOpen ? 'incomplete' : 'ok'
  const behind = faults.truncations > 0 ? 'behind_checkpoint' : ends
  const first = faults.first
  return {
    status: faults.count > faults.truncations ? 'tampered' : behind,
    org_id,
    ledger_id,
    checked: { from_seq, to_seq: size - 1, entries },
    head: { seq: size - 1, hash: lastHash },
    root,
    anchored_by:
      checkpoints.outside >= 0 ? 'external' : checkpoints.trusted >= 0 ? 'signature' : 'none',
    truncation_checked:
      !isOpen &&
      !partial &&
      faults.truncations === 0 &&
      checkpoints.wrong === 0 &&
      checkpoints.outside === size,
    redacted: erased,
    pruned: history.pruned,
    recovered: history.recovered,
    first_invalid: first === null ? null : { seq: first.seq, code: first.code },
    errors: faults.kept,
    error_count: faults.count,
    gaps,
    checkpoints: { checked: checkpoints.checked, mismatched: checkpoints.wrong },
    not_checked: limitsOf(chain, from_seq, { isOpen, partial }, (options.keys ?? []).length > 0),
  }
}

/** Returns the limits of a result as sentences, so that it does not promise too much. */
function limitsOf(
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
