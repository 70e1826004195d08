import { hash } from 'node:crypto'
import type {
  ReadyReport,
  ReportContent,
  ReportFinding,
  ReportCheck,
  ReportControl,
  ReportEvidence,
} from '@remit/contract'
import {
  periodText,
  concernsText,
  findingState,
  figureText,
  THRESHOLD_LABELS,
  unitText,
  COVERAGE_TEXTS,
  evidenceText,
  evidenceTitle,
  LIST_TITLES,
  populationText,
  REASON_TEXTS,
  recordItems,
  resultText,
  supplyItems,
  byDay,
  seqText,
} from '@remit/contract/report-texts'
import { cover, statusMark } from './cover.ts'
import { html, Markup, isolated } from './markup.ts'

export interface HtmlPage {
  readonly text: string
  /** The `Content-Security-Policy` in the page, also for the response header. */
  readonly policy: string
}

/**
 * A report as one HTML page to read and print: no script, no external resource, no style except its
 * own sheet, which the policy names by its hash. Equal reports have equal bytes.
 */
export function pageOf(report: ReadyReport): HtmlPage {
  const { content } = report
  const style = styleOf(report)
  // Exact bytes: the policy contains the hash of the text between the tags.
  const sheet = new Markup(`<style>${style}</style>`)
  const source = `'sha256-${hash('sha256', style, 'base64')}'`
  const policy = `default-src 'none'; style-src ${source}; base-uri 'none'; form-action 'none'`
  const title = `${content.framework.name}, ${content.organization.name}, ${periodText(content.period)}`
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        ${sheet}
      </head>
      <body>
        ${cover(report)} ${findingSection(content)} ${controlSections(content)}
        ${metricSection(content)} ${offlineCheckSection(report)}
      </body>
    </html> `
  // A page cannot forbid framing in a meta tag; the header can.
  return { text, policy: `${policy}; frame-ancestors 'none'` }
}

/** All findings, the most severe first. */
function findingSection({ findings }: ReportContent): Markup {
  if (findings.length === 0)
    return html`<section>
      <h2>Findings</h2>
      <p>No applicable check failed in the period.</p>
    </section>`
  return html`<section>
    <h2>Findings</h2>
    ${findings.map(
      (finding) =>
        html`<article class="finding" id="${finding.id}">
          <h3>
            <span class="id">${finding.id}</span>
            <span class="severity ${finding.severity}">${finding.severity}</span>
            <span class="id">${finding.check}</span> ${finding.title ?? ''}
            <span class="reason">${findingState(finding)}</span>
          </h3>
          <p>${isolated(finding.text)}</p>
          ${finding.count > 0 ? entriesOf(finding) : null}
          <p class="about">${concernsText(finding)}</p>
        </article>`,
    )}
  </section>`
}

function entriesOf({ count, seqs, dates }: ReportFinding): Markup {
  const which =
    count > seqs.length ? `, the first ${seqs.length} with their dates` : ', with their dates'
  return html`<p class="seqs">
    Entries: ${count}${seqs.length === 0 ? '' : `${which}: `}${dated(seqs, dates)}
  </p>`
}

/** All figures of the catalogue, measured or not, and the thresholds of checks. */
const metricSection = ({ metrics, rules }: ReportContent): Markup =>
  html`<section>
    <h2>Figures</h2>
    <table class="metrics">
      <thead>
        <tr>
          <th scope="col">Figure</th>
          <th scope="col">Value</th>
          <th scope="col">Unit</th>
          <th scope="col" class="number">Population</th>
        </tr>
      </thead>
      <tbody>
        ${metrics.map(
          ({ id, name, value, unit, population }) =>
            html`<tr>
              <th scope="row"><span class="id">${id}</span> ${name}</th>
              <td>${isolated(figureText(value, id))}</td>
              <td>${unitText(unit)}</td>
              <td class="number">${population}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <h3>Thresholds, rules version ${rules.version}</h3>
    <table class="thresholds">
      <thead>
        <tr>
          <th scope="col">Threshold</th>
          <th scope="col" class="number">Value</th>
        </tr>
      </thead>
      <tbody>
        ${Object.entries(rules.thresholds).map(
          ([name, value]) =>
            html`<tr>
              <td>${THRESHOLD_LABELS[name] ?? name.replaceAll('_', ' ')}</td>
              <td class="number">${value}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`

/** Instructions for checking the printed report without trusting the server. */
function offlineCheckSection({
  id,
  content,
  record_seq,
  content_sha256,
  ledger_head,
}: ReadyReport): Markup {
  return html`<section>
    <h2>How to check this report offline</h2>
    <p>
      The exact record is the JSON document of this report; this page shows it. Ask the organization
      for the document and for an export of its ledger, and get the ledger’s verifier key from the
      place where its operator publishes it, not from the export.
    </p>
    <ol>
      <li>
        The document: <code>GET /v1/compliance/reports/${id}</code>, kept as
        <code>report.json</code>.
      </li>
      <li>
        The ledger:
        <code>remit ledger export --org ${content.organization.id} --out ledger.ndjson</code>
      </li>
      <li>
        The check: <code>remit-verify ledger.ndjson --vkey KEY --report report.json</code>. It is a
        small open program that needs neither the server nor its database.
      </li>
      <li>
        Compare its output with this page: the content’s hash
        <code class="hash">${content_sha256}</code>, the entry ${record_seq} that records it, and
        the hash of entry ${ledger_head.size - 1}, <code class="hash">${ledger_head.hash}</code>.
      </li>
    </ol>
    <p>
      Any sequence number on these pages can be looked up in the export. Draw your own sample from
      it: what is listed here is a selection by fixed rules.
    </p>
    <h3>Limits</h3>
    <ul>
      <li>
        The ledger shows whether what was recorded was changed. It cannot show what was never put to
        it.
      </li>
      <li>
        The holder of the signing key can rewrite entries that no external checkpoint covers. Keep
        this page.
      </li>
      <li>Times are those of the server.</li>
    </ul>
    <dl class="facts">
      <dt>Catalogue</dt>
      <dd>
        version ${content.catalog.version}, <code class="hash">${content.catalog.sha256}</code>
      </dd>
      <dt>Schema of the document</dt>
      <dd><code>${content.schema}</code></dd>
    </dl>
  </section>`
}

/** The style sheet of a report, with its own footer for printed pages. */
function styleOf({ content_sha256, content, ledger_head }: ReadyReport): string {
  const about = `${content.framework.name}, ${periodText(content.period)}`
  const hashed = `content sha-256 ${content_sha256}`
  const checkpoint = `checkpoint ${ledger_head.size - 1} ${ledger_head.hash}`
  return `${SHEET}
@page {
  margin: 20mm 16mm 24mm;
  @top-left { ${MARGIN_TEXT} content: ${cssText(about)}; }
  @bottom-left { ${MARGIN_TEXT} content: ${cssText(hashed)} "\\A" ${cssText(checkpoint)}; }
  @bottom-right { ${MARGIN_TEXT} content: counter(page) " / " counter(pages); }
}
`
}

const MARGIN_TEXT =
  'font: 6.5pt/1.5 ui-monospace, Consolas, monospace; color: #444; white-space: pre;'

/** A CSS string; characters outside hashes, times, ids and words are removed. */
const cssText = (text: string): string => `"${text.replaceAll(/[^\w .:,-]/g, '?')}"`

const SHEET = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
html { background: #fff; color: #1a1a1a; }
body {
  font: 10.5pt/1.5 Charter, "Bitstream Charter", Cambria, Georgia, "Noto Serif", serif;
  margin: 0 auto; max-width: 60rem; padding: 2rem 1.5rem; overflow-wrap: anywhere;
}
h1, h2, h3, th, .kind, .status, .severity, .reason, .facts dt, .cover dt {
  font-family: system-ui, "Segoe UI", "Helvetica Neue", Arial, "Noto Sans", sans-serif;
}
h1 { font-size: 2.4rem; line-height: 1.15; margin: 0 0 .25rem; }
h2 { border-bottom: 1.5pt solid #1a1a1a; font-size: 1.35rem; margin: 2.5rem 0 1rem; padding-bottom: .3rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .5rem; }
p { margin: .5rem 0; }
a { color: inherit; }
code { font: .86em/1.4 ui-monospace, "Cascadia Mono", Consolas, "DejaVu Sans Mono", monospace; }
.cover { padding-top: 4rem; }
.kind { font-size: .9rem; margin: 0 0 1rem; text-transform: uppercase; }
.version { color: #444; font-size: 1.1rem; margin: 0 0 2.5rem; }
dl { display: grid; gap: .45rem 1.5rem; grid-template-columns: 11rem minmax(0, 1fr); margin: 0; }
dt { color: #444; font-size: .85rem; padding-top: .1rem; }
dd { margin: 0; min-width: 0; }
.exact { color: #444; display: block; }
.notice { border: 1pt solid #1a1a1a; margin-top: 2.5rem; padding: .9rem 1.1rem; }
.warning { border: 2.5pt solid #8a1c1c; padding: .9rem 1.1rem; }
.facts { margin-top: 1.5rem; }
table { border-collapse: collapse; font-size: .87em; margin: .7rem 0; table-layout: fixed; width: 100%; }
th, td { border-bottom: .5pt solid #999; padding: .3rem .5rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 1pt solid #1a1a1a; font-size: .9em; }
tbody th { font-weight: 600; }
tfoot th, tfoot td { border-top: 1pt solid #1a1a1a; font-weight: 700; }
.number { font-variant-numeric: tabular-nums; text-align: right; }
.id { font-weight: 700; white-space: normal; }
.controls a { white-space: nowrap; }
.seqs { font-variant-numeric: tabular-nums; }
.day { white-space: nowrap; }
.reason { color: #444; font-size: .9em; font-weight: 400; }
.controls .reason { display: block; }
.status, .severity { border: 1pt solid; border-radius: 2pt; display: inline-block; font-size: .82rem; font-weight: 700; padding: 0 .35rem; }
.satisfied { background: #eef5ee; border-color: #1d5b2a; color: #164620; }
.attention { background: #fbeaea; border-color: #8a1c1c; border-width: 2pt; color: #7a1616; }
.not_evidenced { background: #fff; border-color: #555; border-style: dashed; color: #333; }
.manual { background: #fff; border-color: #777; border-style: dotted; color: #333; }
.critical, .high { border-color: #8a1c1c; border-width: 2pt; color: #7a1616; }
.medium { border-color: #7a5200; color: #5f4000; }
.low { border-color: #555; border-style: dashed; color: #333; }
.fail { font-weight: 700; text-decoration: underline; }
.not_applicable { color: #444; font-style: italic; }
.lists { display: grid; gap: 0 2rem; grid-template-columns: 3fr 2fr; }
.lists ul { margin: .2rem 0; padding-left: 1.1rem; }
h4 { font-family: system-ui, "Segoe UI", "Helvetica Neue", Arial, "Noto Sans", sans-serif; font-size: .87rem; margin: .7rem 0 0; }
.too_small, .too_young { color: #444; font-style: italic; }
article { border-top: .5pt solid #999; margin-top: 1.4rem; }
h2 + article { border-top: 0; }
.summary th:first-child { width: 9.5rem; } .summary .number { width: 5.5rem; }
.controls th:nth-child(1) { width: 15%; } .controls th:nth-child(3) { width: 13%; } .controls th:nth-child(4) { width: 23%; } .controls th:nth-child(5) { width: 13%; }
.checks th:nth-child(1) { width: 24%; } .checks th:nth-child(2) { width: 11%; } .checks th:nth-child(4) { width: 21%; } .checks th:nth-child(5) { width: 20%; }
.evidence th:nth-child(1) { width: 19%; } .evidence th:nth-child(2) { width: 11%; } .evidence th:nth-child(3) { width: 8%; } .evidence th:nth-child(4) { width: 18%; }
.manual-controls th:nth-child(1) { width: 15%; } .manual-controls th:nth-child(2) { width: 30%; }
.metrics th:nth-child(1) { width: 36%; } .metrics th:nth-child(3) { width: 14%; } .metrics th:nth-child(4) { width: 12%; }
.kinds, .thresholds { max-width: 30rem; }
@media print {
  body { font-size: 9.5pt; max-width: none; padding: 0; }
  .cover { break-after: page; padding-top: 30mm; }
  h2, h3 { break-after: avoid; }
  tr, .finding, .lists, .notice, .warning { break-inside: avoid; }
  thead { display: table-header-group; }
  tfoot { display: table-row-group; }
  .status, .severity, .notice, .warning { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`

/**
 * All controls in the order of the framework, their details, and the evidence that the organization
 * supplies.
 */
function controlSections({ controls }: ReportContent): Markup {
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

/** Sequence numbers with the days of their entries, without line breaks in a day. */
const dated = (...of: Parameters<typeof byDay>): Markup =>
  html`${byDay(...of).map(
    ({ day, seqs }, i) =>
      html`${i === 0 ? '' : '; '}${seqText(seqs)}${day === null ? null : html` <span class="day">(${day})</span>`}`,
  )}`
