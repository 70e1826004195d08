import { hash } from 'node:crypto'
import type { Report, ReportFormat, ReportQuery } from '@remit/contract'
import { invalid } from '@remit/core/base'
import { Reply, Written } from '@remit/core/http'
import { pageOf } from '../print/html/page.ts'
import { oscalOf } from '../print/oscal/assessment-results.ts'
import { csvOf } from './csv/csv.ts'
import type { StoredReport } from './store.ts'

/** A report in one of its formats. */
export interface Rendering {
  readonly contentType: string
  readonly text: string
  /** Without the dot. */
  readonly extension: string
  /** Displayed in the browser, or saved as a file. */
  readonly disposition: 'inline' | 'attachment'
  readonly headers?: Readonly<Record<string, string>>
}

export type Render = (stored: StoredReport, query: ReportQuery) => Rendering

const FORMATS: Readonly<Record<ReportFormat, Render>> = {
  json: ({ report, content }) => ({
    contentType: 'application/json',
    text: withContent(report, content),
    extension: 'json',
    disposition: 'inline',
  }),
  csv: ({ report, csv }, { part = 'controls', bom }) => {
    const hashed = { content: report.content, sha256: report.content_sha256 }
    const table = part === 'controls' ? csv : csvOf(hashed, part)
    return {
      contentType: 'text/csv; charset=utf-8; header=present',
      text: bom === 'true' ? `\uFEFF${table}` : table,
      extension: part === 'controls' ? 'csv' : `${part}.csv`,
      disposition: 'attachment',
    }
  },
  html: ({ report }) => {
    const { text, policy } = pageOf(report)
    return {
      contentType: 'text/html; charset=utf-8',
      text,
      extension: 'html',
      disposition: 'inline',
      headers: { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' },
    }
  },
  oscal: ({ report }) => ({
    contentType: 'application/json',
    text: oscalOf(report),
    extension: 'oscal.json',
    disposition: 'attachment',
  }),
}

/** The document with the exact bytes of its hashed content. */
function withContent(
  { content: _content, ...envelope }: StoredReport['report'],
  content: string,
): string {
  return `${JSON.stringify(envelope).slice(0, -1)},"content":${content}}`
}

/**
 * Renders a report in the requested format. Throws `invalid_request` for parameters of another
 * format.
 */
export function renderingOf(stored: StoredReport, query: ReportQuery): Rendering {
  for (const name of ['part', 'bom'] as const) {
    if (query.format !== 'csv' && query[name] !== undefined)
      throw invalid(name, 'is for format=csv')
  }
  return FORMATS[query.format](stored, query)
}

/** The response: the bytes, their digest, and the file name. */
export function answerIn(
  stored: StoredReport,
  query: ReportQuery,
  options: { status?: number; headers?: Record<string, string> } = {},
): Reply<Report> {
  const { contentType, text, extension, disposition, headers } = renderingOf(stored, query)
  const { id, framework, period, content_sha256 } = stored.report
  const days = `${period.from.slice(0, 10)}_${period.to.slice(0, 10)}`
  return new Reply<Report>(new Written(text), {
    ...options,
    headers: {
      'Content-Type': contentType,
      'Content-Disposition': `${disposition}; filename="remit-${framework}-${days}-${id}.${extension}"`,
      'Content-Digest': `sha-256=:${hash('sha256', text, 'base64')}:`,
      ETag: `"${content_sha256}"`,
      'X-Content-Type-Options': 'nosniff',
      // The CSV is hashed, so it cannot contain this itself.
      ...(stored.report.evaluation && { 'X-Remit-Evaluation': 'true' }),
      ...headers,
      ...options.headers,
    },
  })
}
