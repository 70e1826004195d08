import type { ReportContent, ReportFinding } from '@remit/contract'
import { html, outside } from './markup.ts'
import type { Markup } from './markup.ts'
import { seqText } from '../words.ts'

/** Everything that does not hold, the gravest first. */
export function findingSection({ findings }: ReportContent): Markup {
  if (findings.length === 0)
    return html`<section>
      <h2>Findings</h2>
      <p>No check that applied failed in the period.</p>
    </section>`
  return html`<section>
    <h2>Findings</h2>
    ${findings.map(
      (finding) =>
        html`<article class="finding" id="${finding.id}">
          <h3>
            <span class="id">${finding.id}</span>
            <span class="severity ${finding.severity}">${finding.severity}</span>
            <span class="id">${finding.check}</span>
          </h3>
          <p>${outside(finding.text)}</p>
          ${entriesOf(finding)}
          <p class="about">
            Controls: ${finding.controls.join(', ') || 'none in the scope of this report'}
          </p>
        </article>`,
    )}
  </section>`
}

function entriesOf({ count, seqs }: ReportFinding): Markup {
  const which = count > seqs.length ? `, the first ${seqs.length} by seq` : ', by seq'
  return html`<p class="seqs">
    Entries: ${count}${seqs.length === 0 ? '' : `${which}: ${seqText(seqs)}`}
  </p>`
}
