import type { SmtpSettings } from '@remit/core/module'
import { hostOf, isLoopbackHost } from '@remit/core/net'
import nodemailer from 'nodemailer'
import type { Attempted } from './attempt.ts'
import type { Notice } from './notice.ts'

const CONNECT_MS = 5_000
const SILENCE_MS = 10_000
/** Less than the lease of an attempt. */
const TOTAL_MS = 30_000

/** Codes of the library, as errors of a delivery. */
const ERRORS: Readonly<Record<string, string>> = {
  EAUTH: 'smtp_login_refused',
  EENVELOPE: 'smtp_recipient_refused',
  EMESSAGE: 'smtp_message_refused',
  EDNS: 'name_not_found',
  ETLS: 'tls_failed',
  ETIMEDOUT: 'timeout',
  ECONNECTION: 'connection_failed',
  ESOCKET: 'connection_failed',
}

/** Sends one message to some addresses. Never rejects. */
export async function sendMail(
  { url, from }: SmtpSettings,
  notice: Notice,
  { id, to }: { readonly id: string; readonly to: readonly string[] },
): Promise<Attempted> {
  const transport = nodemailer.createTransport(transportOf(new URL(url)))
  const late = setTimeout(() => transport.close(), TOTAL_MS)
  try {
    await transport.sendMail({
      from,
      to: [...to],
      subject: notice.title,
      text: textOf(notice),
      html: htmlOf(notice),
      messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
      // RFC 3834: no answers of absent people.
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
    return { is: 'delivered', status: null, error: null }
  } catch (error) {
    const { code = '' } = error as { code?: string }
    return { is: 'refused', status: null, error: ERRORS[code] ?? 'smtp_failed' }
  } finally {
    clearTimeout(late)
    transport.close()
  }
}

/** TLS is required, except to this machine. */
function transportOf(url: URL) {
  const { protocol, port, username, password } = url
  const secure = protocol === 'smtps:'
  const host = hostOf(url)
  const isPlain = isLoopbackHost(host)
  return {
    host,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && !isPlain,
    ignoreTLS: !secure && isPlain,
    tls: { minVersion: 'TLSv1.2' as const },
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

const textOf = ({ title, fields, link }: Notice): string =>
  [
    title,
    '',
    ...fields.map(([name, value]) => `${name}: ${value}`),
    ...(link === null ? [] : ['', `Open in Remit: ${link}`]),
    '',
  ].join('\n')

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one)

function htmlOf({ title, fields, link }: Notice): string {
  const rows = fields.map(
    ([name, value]) =>
      `<tr><td style="color:#55605e;padding:2px 16px 2px 0">${escaped(name)}</td><td>${escaped(value)}</td></tr>`,
  )
  const open = link === null ? '' : `<p><a href="${escaped(link)}">Open in Remit</a></p>`
  return `<p><strong>${escaped(title)}</strong></p><table>${rows.join('')}</table>${open}`
}
