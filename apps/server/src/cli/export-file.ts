import { exportLines, parseExportLine } from '@remit/core/ledger/records'
import { CliError } from './errors.ts'
import { bytesOf } from './files.ts'

/**
 * The lines of an export in a file. Throws `CliError` for a file without one valid line: it is something else
 * and must not make the ledger look tampered. Invalid lines before the first valid one are empty, which is not
 * valid either.
 */
export async function* linesOfExport(file: string): AsyncGenerator<string> {
  let invalid = 0
  let isExport = false
  for await (const line of exportLines(bytesOf(file))) {
    isExport ||= parseExportLine(line) !== null
    if (!isExport) {
      invalid++
      continue
    }
    for (; invalid > 0; invalid--) yield ''
    yield line
  }
  if (!isExport) throw new CliError(`${file} is not an export of a ledger`)
}
