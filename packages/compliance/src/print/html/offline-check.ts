import type { ReadyReport } from '@remit/contract'
import { html } from './markup.ts'
import type { Markup } from './markup.ts'

/** Instructions for checking the printed report without trusting the server. */
export function offlineCheckSection({
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
