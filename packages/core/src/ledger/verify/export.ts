import type { StoredEntry } from '../format/entry.ts'
import { parseVerifierKey } from '../format/note.ts'
import { parseExportLine } from '../read/export-entries.ts'
import type { ExportHeader } from '../read/export-entries.ts'
import { createChainVerifier } from './chain.ts'
import type { ChainVerifier } from './chain.ts'
import type { ChainReport } from './report.ts'

export { formatCheckpointLine, formatEntryLine, formatHeaderLine } from '../read/export-entries.ts'

export interface VerifyExportOptions {
  /** The trusted key, from outside the ledger. Without it, the result has no trust anchor. */
  readonly vkey?: string
  /** External checkpoint notes. */
  readonly checkpoints?: readonly string[]
  /** Those of `checkpoints` that the witness must have signed, but did not: see `unwitnessed`. */
  readonly unwitnessed?: ReadonlySet<string>
  /** Called with the first line before any comparison; an exception aborts the verification. */
  readonly onHeader?: (header: ExportHeader) => void
  /** Also parse every payload. */
  readonly deep?: boolean
}

/**
 * Verifies an export line by line (without newlines, see `exportLines`). The report is the same as
 * for the ledger itself; `incomplete` if the file ends without its checkpoint line. Throws
 * `NoteError` for an invalid `vkey`, and errors of reading the lines.
 */
export async function verifyExport(
  lines: AsyncIterable<string> | Iterable<string>,
  options: VerifyExportOptions = {},
): Promise<ChainReport> {
  let reading: Reading | null = null
  for await (const line of lines) {
    if (reading === null) reading = beginReading(line, options)
    else reading.line(line)
  }
  return (reading ?? beginReading('', options)).finish()
}

function beginReading(line: string, options: VerifyExportOptions): Reading {
  const header = parseExportLine(line)
  const known = header?.type === 'header' ? header : null
  if (known) options.onHeader?.(known)
  const verifiers = options.vkey === undefined ? [] : [parseVerifierKey(options.vkey)]
  const start = known && known.from_seq > 0 ? { size: known.from_seq, ...known.start } : undefined
  const verifier = createChainVerifier({
    org_id: known?.org_id ?? '',
    verifiers,
    deep: options.deep ?? false,
    ...(known ? { origin: known.origin, ledger_id: known.ledger_id } : {}),
    ...(start ? { start } : {}),
  })
  for (const note of options.checkpoints ?? []) {
    const unwitnessed = options.unwitnessed?.has(note) ?? false
    verifier.checkpoint(note, { external: true, unwitnessed })
  }
  return new Reading(verifier, known)
}

class Reading {
  readonly #verifier: ChainVerifier
  readonly #header: ExportHeader | null
  /** The last line is invalid; harmless only if the file was truncated there. */
  #unread = false
  #ended = false

  constructor(verifier: ChainVerifier, header: ExportHeader | null) {
    this.#verifier = verifier
    this.#header = header
    if (header === null) verifier.malformed('the first line is not the header of an export')
  }

  line(text: string): void {
    if (this.#unread || this.#ended) this.#verifier.malformed('the line is not valid in an export')
    this.#unread = false
    const line = this.#header && !this.#ended ? parseExportLine(text) : null
    if (line?.type === 'entry') {
      const { type: _, ...entry } = line
      this.#verifier.entry({ org_id: this.#header?.org_id ?? '', ...entry } satisfies StoredEntry)
    } else if (line?.type === 'checkpoint') {
      this.#ended = true
      this.#verifier.checkpoint(line.note)
    } else if (!this.#ended) {
      this.#unread = true
    }
  }

  finish(): ChainReport {
    const { from_seq: from = 0, start, partial = false } = this.#header ?? {}
    // Without the state before its first entry, the entries cannot be connected to the signed root.
    const detached = from > 0 && start === undefined
    return this.#verifier.finish({
      incomplete: !this.#ended || detached,
      continues: partial,
      ...(this.#header ? { vkey: this.#header.vkey } : {}),
    })
  }
}
