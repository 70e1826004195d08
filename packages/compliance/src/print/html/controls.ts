import type { ReportCheck, ReportContent, ReportControl, ReportEvidence } from '@remit/contract'
import {
  COVERAGE_TEXTS,
  evidenceText,
  evidenceTitle,
  figureText,
  LIST_TITLES,
  populationText,
  REASON_TEXTS,
  recordItems,
  resultText,
  supplyItems,
} from '@remit/contract/report-texts'
import { statusMark } from './cover.ts'
import { dated } from './dated.ts'
import { html, isolated } from './markup.ts'
import type { Markup } from './markup.ts'

/**
 * All controls in the order of the framework, their details, and the evidence that the organization
 * supplies.
 */
export function controlSections({ controls }: ReportContent): Markup {
  const shown = controls.filter(({ coverage }) => coverage !== 'manual')
  const manual = controls.filter(({ coverage }) => coverage === 'manual')
  return html`<section>
      <h2>Controls</h2>
      <table class="controls">
        <thead>
          <tr>
            <th scope="col">Control</th>
            <th scope="col">Title</th>
            <th scope="col">Evidence in the record</th>
            <th scope="col">Status</th>
            <th scope="col">Findings</th>
          </tr>
        </thead>
        <tbody>
          ${controls.map(controlRow)}
        </tbody>
      </table>
    </section>
    ${
      shown.length === 0
        ? null
        : html`<section>
            <h2>Basis of the statuses</h2>
            ${shown.map(controlDetail)}
          </section>`
    }
    ${manual.length === 0 ? null : manualSection(manual)}`
}

const controlRow = (control: ReportControl): Markup =>
  html`<tr>
    <th scope="row" class="id">${control.id}</th>
    <td>${control.title}</td>
    <td>${COVERAGE_TEXTS[control.coverage]}</td>
    <td>
      ${statusMark(control.status)}${control.reason === null ? null : html` <span class="reason">${REASON_TEXTS[control.reason]}</span>`}
    </td>
    <td>${control.findings.map((id) => html`<a href="#${id}">${id}</a> `)}</td>
  </tr>`

const controlDetail = (control: ReportControl): Markup =>
  html`<article>
    <h3><span class="id">${control.id}</span> ${control.title} ${statusMark(control.status)}</h3>
    ${twoLists(control)} ${control.checks.length === 0 ? null : checkTable(control.checks)}
    ${control.evidence.length === 0 ? null : evidenceTable(control.evidence)}
  </article>`

/** Existing evidence and missing evidence in two lists. */
const twoLists = (control: ReportControl): Markup =>
  html`<div class="lists">
    ${listOf(LIST_TITLES.record, recordItems(control))}
    ${listOf(LIST_TITLES.supply, supplyItems(control.organization_must_supply))}
  </div>`

const listOf = (title: string, items: readonly string[] | null): Markup | null =>
  items &&
  html`<div>
    <h4>${title}</h4>
    <ul>
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>
  </div>`

const checkTable = (checks: readonly ReportCheck[]): Markup =>
  html`<table class="checks">
    <thead>
      <tr>
        <th scope="col">Check</th>
        <th scope="col">Result</th>
        <th scope="col">Found</th>
        <th scope="col">Passes when</th>
        <th scope="col">Population</th>
      </tr>
    </thead>
    <tbody>
      ${checks.map(
        (check) =>
          html`<tr>
            <th scope="row">
              <span class="id">${check.id}</span> ${check.title}
              <span class="reason">${check.severity}</span>
            </th>
            <td class="${check.result === 'pass' && check.carries === false ? '' : check.result}">
              ${resultText(check)}
            </td>
            <td>${isolated(figureText(check.value, check.id))}</td>
            <td>${check.threshold}${check.relaxed ? html` <strong>(relaxed)</strong>` : null}</td>
            <td>${populationText(check)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`

const evidenceTable = (evidence: readonly ReportEvidence[]): Markup =>
  html`<table class="evidence">
    <thead>
      <tr>
        <th scope="col">Evidence</th>
        <th scope="col">In the period</th>
        <th scope="col" class="number">Entries</th>
        <th scope="col">First, last</th>
        <th scope="col">Sample with dates</th>
      </tr>
    </thead>
    <tbody>
      ${evidence.map(
        (one) =>
          html`<tr>
            <th scope="row">${evidenceTitle(one)}</th>
            <td>${evidenceText(one)}</td>
            <td class="number">${one.count}</td>
            <td>${endsOf(one)}</td>
            <td class="seqs">${dated(one.sample, one.sample_dates)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`

/** The first and the last entry. They are also the first and the last one of the sample. */
function endsOf({ first_seq, last_seq, sample_dates: dates }: ReportEvidence): Markup | null {
  if (first_seq === null || last_seq === null) return null
  return first_seq === last_seq
    ? dated([first_seq], dates)
    : dated([first_seq, last_seq], dates && [dates[0] ?? null, dates.at(-1) ?? null])
}

const manualSection = (controls: readonly ReportControl[]): Markup =>
  html`<section>
    <h2>Evidence that only you supply</h2>
    <table class="manual-controls">
      <thead>
        <tr>
          <th scope="col">Control</th>
          <th scope="col">Title</th>
          <th scope="col">You supply</th>
        </tr>
      </thead>
      <tbody>
        ${controls.map(
          (control) =>
            html`<tr>
              <th scope="row" class="id">${control.id}</th>
              <td>${control.title}</td>
              <td>${supplyItems(control.organization_must_supply).join(' ')}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`
