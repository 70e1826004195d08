import { byDay, seqText } from '@remit/contract/report-texts'
import { html } from './markup.ts'
import type { Markup } from './markup.ts'

/** Sequence numbers with the days of their entries, without line breaks in a day. */
export const dated = (...of: Parameters<typeof byDay>): Markup =>
  html`${byDay(...of).map(
    ({ day, seqs }, i) =>
      html`${i === 0 ? '' : '; '}${seqText(seqs)}${day === null ? null : html` <span class="day">(${day})</span>`}`,
  )}`
