import type { ReportContent, ReportFinding } from '@remit/contract'
import { concernsText, findingState } from '@remit/contract/report-texts'
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
