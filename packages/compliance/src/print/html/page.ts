import { hash } from 'node:crypto'
import type { ReadyReport } from '@remit/contract'
import { checkingSection } from './checking.ts'
import { controlSections } from './controls.ts'
import { cover } from './cover.ts'
import { findingSection } from './findings.ts'
import { html, Markup } from './markup.ts'
import { metricSection } from './metrics.ts'
import { styleOf } from './style.ts'
import { periodText } from '../moments.ts'

export interface Page {
  readonly text: string
  /** The `Content-Security-Policy` that the page carries itself and should be sent with. */
  readonly policy: string
}

/**
 * A report as one page of HTML to read and to print: no script, nothing from elsewhere, no style but
 * its own sheet, which the policy names by its hash. The same report gives the same bytes.
 */
export function pageOf(report: ReadyReport): Page {
  const { content } = report
  const style = styleOf(report)
  // To the byte: the policy names the hash of what stands between the tags.
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
        ${metricSection(content)} ${checkingSection(report)}
      </body>
    </html> `
  // A page cannot forbid by itself to be framed; the header can.
  return { text, policy: `${policy}; frame-ancestors 'none'` }
}
