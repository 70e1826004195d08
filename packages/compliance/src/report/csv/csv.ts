import type { CsvPart } from '@remit/contract'
import { tableOf } from './parts.ts'
import type { HashedContent } from './parts.ts'
import { csvText } from '@remit/contract/fit'

/** A part of a report as RFC 4180 text; equal content gives equal bytes. */
export const csvOf = (hashed: HashedContent, part: CsvPart = 'controls'): string =>
  csvText(tableOf(hashed, part))
