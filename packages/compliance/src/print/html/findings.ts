import type { ReportContent, ReportFinding } from '@remit/contract'
import { html, isolated } from './markup.ts'
import type { Markup } from './markup.ts'
import { dated } from './dated.ts'

/** All findings, the most severe first. */
export function findingSection({ findings }: ReportContent): Markup {
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
            <span class="id">${finding.check}</span> ${finding.title ?? ''} ${stateOf(finding)}
          </h3>
          <p>${isolated(finding.text)}</p>
          ${entriesOf(finding)}
          <p class="about">
            ${
              finding.controls.length === 0
                ? 'Concerns the organization, but no control in the scope of this report.'
                : `Controls: ${finding.controls.join(', ')}`
            }
          </p>
        </article>`,
    )}
  </section>`
}

/** Shows whether the finding was corrected in the period, if the report contains it. */
const stateOf = ({ fixed_seq }: ReportFinding): Markup | null =>
  fixed_seq === undefined
    ? null
    : html`<span class="reason"
        >${fixed_seq === null ? 'open at the end of the period' : `corrected by entry ${fixed_seq}`}</span
      >`

function entriesOf({ count, seqs, dates }: ReportFinding): Markup {
  const which =
    count > seqs.length ? `, the first ${seqs.length} with their dates` : ', with their dates'
  return html`<p class="seqs">
    Entries: ${count}${seqs.length === 0 ? '' : `${which}: `}${dated(seqs, dates)}
  </p>`
}
