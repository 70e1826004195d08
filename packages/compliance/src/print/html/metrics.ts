import type { ReportContent } from '@remit/contract'
import { figureText, THRESHOLD_LABELS, unitText } from '@remit/contract/report-texts'
import { html, isolated } from './markup.ts'
import type { Markup } from './markup.ts'

/** All figures of the catalogue, measured or not, and the thresholds of checks. */
export const metricSection = ({ metrics, rules }: ReportContent): Markup =>
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
