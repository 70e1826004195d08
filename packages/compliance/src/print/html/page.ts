import { hash } from 'node:crypto'
import type { ReadyReport } from '@remit/contract'
import { periodText } from '@remit/contract/report-texts'
import { offlineCheckSection } from './offline-check.ts'
import { controlSections } from './controls.ts'
import { cover } from './cover.ts'
import { findingSection } from './findings.ts'
import { html, Markup } from './markup.ts'
import { metricSection } from './metrics.ts'
import { styleOf } from './style.ts'

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
