import type { ControlStatus, ReadyReport } from '@remit/contract'
import {
  actorText,
  EVALUATION_NOTICE,
  momentText,
  openFindingsText,
  periodText,
  STATUS_MEANINGS,
  STATUS_TEXTS,
} from '@remit/contract/report-texts'
import { html, isolated } from './markup.ts'
import type { Markup } from './markup.ts'

const STATUSES: readonly ControlStatus[] = ['satisfied', 'attention', 'not_evidenced', 'manual']

/** The first page: subject, organization and summary of the report. */
export function cover(report: ReadyReport): Markup {
  const { content, ledger_head } = report
  const { framework, organization, scope, period, ledger } = content
  return html`<header class="cover">
      <p class="kind">Evidence report</p>
      <h1>${framework.name}</h1>
      <p class="version">${framework.version}</p>
      ${evaluationWarning(report)}
      <dl>
        <dt>Organization</dt>
        <dd>${isolated(organization.name)} <code>${organization.id}</code></dd>
        <dt>Period</dt>
        <dd>
          ${periodText(period)}
          <span class="exact"><code>${period.from}</code> to before <code>${period.to}</code></span>
        </dd>
        <dt>Scope</dt>
        <dd>${scope.statement}</dd>
        <dt>Plan</dt>
        <dd>${scope.plan ?? 'none: the organization did not exist yet'}</dd>
        <dt>Generated</dt>
        <dd>
          ${momentText(report.generated_at)}, requested by
          ${isolated(actorText(report.generated_by, report.generated_by_person))}
        </dd>
        <dt>Report</dt>
        <dd><code>${report.id}</code>, recorded in the ledger as entry ${report.record_seq}</dd>
        <dt>Content, SHA-256</dt>
        <dd><code class="hash">${report.content_sha256}</code></dd>
        <dt>Checkpoint</dt>
        <dd>entry ${ledger_head.size - 1}, <code class="hash">${ledger_head.hash}</code></dd>
      </dl>
      <p class="notice">${content.notice}</p>
    </header>
    <section>
      <h2>Summary</h2>
      ${ledgerWarning(report)}
      <table class="summary">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col" class="number">Controls</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          ${STATUSES.map(
            (status) =>
              html`<tr>
                <th scope="row">${statusMark(status)}</th>
                <td class="number">${content.summary[status]}</td>
                <td>${STATUS_MEANINGS[status]}</td>
              </tr>`,
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <td class="number">${content.summary.total}</td>
            <td></td>
          </tr>
        </tfoot>
      </table>
      <dl class="facts">
        ${openFindings(report)}
        <dt>Entries in the period</dt>
        <dd>
          ${ledger.entries}${ledger.first_seq === null ? '' : `, seq ${ledger.first_seq} to ${ledger.last_seq}`}
        </dd>
        <dt>Hash of the last one</dt>
        <dd><code class="hash">${ledger.hash_at_last ?? 'none'}</code></dd>
        <dt>Ledger verified</dt>
        <dd>${verifiedText(report)}</dd>
        <dt>Earlier checkpoints compared</dt>
        <dd>${ledger_head.anchors_checked}</dd>
      </dl>
      ${kindTable(ledger.by_kind)}
    </section>`
}

function openFindings({ content }: ReadyReport): Markup | null {
  const open = openFindingsText(content)
  return open === null
    ? null
    : html`<dt>Findings open at the end</dt>
        <dd>${open}</dd>`
}

/** A status as a word; its frame differs too, for prints without colors. */
export const statusMark = (status: ControlStatus): Markup =>
  html`<span class="status ${status}">${STATUS_TEXTS[status]}</span>`

const evaluationWarning = ({ evaluation }: ReadyReport): Markup | null =>
  evaluation ? html`<p class="warning"><strong>Evaluation.</strong> ${EVALUATION_NOTICE}</p>` : null

function ledgerWarning({ content: { ledger } }: ReadyReport): Markup | null {
  if (ledger.verified) return null
  const where =
    ledger.first_bad_seq === null ? '' : ` The first invalid entry is seq ${ledger.first_bad_seq}.`
  const anchors =
    ledger.anchor_mismatches.length === 0
      ? ''
      : ` Earlier checkpoints disagree at seq ${ledger.anchor_mismatches.join(', ')}.`
  return html`<p class="warning">
    <strong>The ledger did not verify up to the end of the period.</strong>${where}${anchors} No
    statement below can be relied on until that is explained.
  </p>`
}

function verifiedText({ content: { ledger }, ledger_head }: ReadyReport): string {
  const period = ledger.verified
    ? `yes, up to the end of the period${ledger.verified_from_seq === null ? '' : `, from seq ${ledger.verified_from_seq}`}`
    : 'no'
  const whole = ledger_head.verified
    ? 'the whole ledger too, when the report was generated'
    : `not the whole ledger, when the report was generated${ledger_head.first_bad_seq === null ? '' : `: seq ${ledger_head.first_bad_seq}`}`
  return `${period}; ${whole}`
}

function kindTable(byKind: Readonly<Record<string, number>>): Markup | null {
  const kinds = Object.entries(byKind).toSorted(([a], [b]) => (a < b ? -1 : 1))
  if (kinds.length === 0) return null
  return html`<h3>Entries by kind</h3>
    <table class="kinds">
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col" class="number">Entries</th>
        </tr>
      </thead>
      <tbody>
        ${kinds.map(
          ([kind, count]) =>
            html`<tr>
              <td><code>${kind}</code></td>
              <td class="number">${count}</td>
            </tr>`,
        )}
      </tbody>
    </table>`
}
