import { datedText } from '@remit/contract/report-texts'
import { html } from './markup.ts'
import type { Markup } from './markup.ts'

const DAY = /(\(\d{4}-\d\d-\d\d\))/

/** Sequence numbers with the days of their entries, without line breaks in a day. */
export const dated = (...[seqs, dates]: Parameters<typeof datedText>): Markup =>
  html`${datedText(seqs, dates)
    .split(DAY)
    .map((part) => (DAY.test(part) ? html`<span class="day">${part}</span>` : part))}`
