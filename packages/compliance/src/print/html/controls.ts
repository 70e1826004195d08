import type { ReportCheck, ReportContent, ReportControl, ReportEvidence } from '@remit/contract'
import { statusMark } from './cover.ts'
import { html, outside } from './markup.ts'
import type { Markup } from './markup.ts'
import {
  COVERAGE_WORDS,
  evidenceWords,
  figureText,
  REASON_WORDS,
  RESULT_WORDS,
  seqText,
  titleOf,
} from '../words.ts'

/** All controls in the framework's order, then what is behind each, then what the organization supplies. */
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
            <th scope="col">From the record</th>
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
            <h2>What the statuses rest on</h2>
            ${shown.map(controlDetail)}
          </section>`
    }
    ${manual.length === 0 ? null : manualSection(manual)}`
}

const controlRow = (control: ReportControl): Markup =>
  html`<tr>
    <th scope="row" class="id">${control.id}</th>
    <td>${control.title}</td>
    <td>${COVERAGE_WORDS[control.coverage]}</td>
    <td>
      ${statusMark(control.status)}${control.reason === null ? null : html` <span class="reason">${REASON_WORDS[control.reason]}</span>`}
    </td>
    <td>${control.findings.map((id) => html`<a href="#${id}">${id}</a> `)}</td>
  </tr>`

const controlDetail = (control: ReportControl): Markup =>
  html`<article>
    <h3><span class="id">${control.id}</span> ${control.title} ${statusMark(control.status)}</h3>
    ${control.checks.length === 0 ? null : checkTable(control.checks)}
    ${control.evidence.length === 0 ? null : evidenceTable(control.evidence)}
    <p class="supply">
      <strong>The organization supplies:</strong> ${control.organization_must_supply}
    </p>
  </article>`

const checkTable = (checks: readonly ReportCheck[]): Markup =>
  html`<table class="checks">
    <thead>
      <tr>
        <th scope="col">Check</th>
        <th scope="col">Result</th>
        <th scope="col">Value</th>
        <th scope="col">Passes when</th>
        <th scope="col" class="number">Looked at</th>
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
            <td class="${check.result}">${RESULT_WORDS[check.result]}</td>
            <td>${outside(figureText(check.value))}</td>
            <td>${check.threshold}${check.relaxed ? html` <strong>(relaxed)</strong>` : null}</td>
            <td class="number">${check.population}</td>
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
        <th scope="col">Some of them, by seq</th>
      </tr>
    </thead>
    <tbody>
      ${evidence.map(
        (one) =>
          html`<tr>
            <th scope="row">${titleOf(one.kind)}</th>
            <td>${evidenceWords(one)}</td>
            <td class="number">${one.count}</td>
            <td>${one.first_seq === null ? '' : `${one.first_seq}, ${one.last_seq}`}</td>
            <td class="seqs">${seqText(one.sample)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`

const manualSection = (controls: readonly ReportControl[]): Markup =>
  html`<section>
    <h2>What the organization supplies alone</h2>
    <table class="manual-controls">
      <thead>
        <tr>
          <th scope="col">Control</th>
          <th scope="col">Title</th>
          <th scope="col">To be supplied</th>
        </tr>
      </thead>
      <tbody>
        ${controls.map(
          (control) =>
            html`<tr>
              <th scope="row" class="id">${control.id}</th>
              <td>${control.title}</td>
              <td>${control.organization_must_supply}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`
