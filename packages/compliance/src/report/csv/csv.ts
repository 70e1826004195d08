import type { CsvPart } from '@remit/contract'
import { tableOf } from './parts.ts'
import type { Hashed } from './parts.ts'
import { csvText } from './table.ts'

/** A part of a report as RFC 4180 text; equal content gives equal bytes. */
export const csvOf = (hashed: Hashed, part: CsvPart = 'controls'): string =>
  csvText(tableOf(hashed, part))
