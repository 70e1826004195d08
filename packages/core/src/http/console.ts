import ipaddr from 'ipaddr.js'
import type { Hono } from 'hono'
import { fail } from '../base/errors.ts'
import { writeCookie } from '../sessions/sessions.ts'
import type { LoginLinks } from '../sessions/people.ts'
import type { ReadHeader, Sessions } from '../sessions/sessions.ts'
import { NOBODY } from './endpoint.ts'
import { addressOf, headerOf, requestIdOf } from './header.ts'
import type { RequestTurns } from './limits.ts'

/** The files of the console. */
export interface ConsoleFiles {
  /** Returns the response to GET of a path below `/console`; null if there is no such file. */
  serve(path: string, header: ReadHeader): Promise<Response | null>
}

/** A page below `/console` that a module computes, such as the return from an identity provider. */
export interface ConsolePage {
  readonly path: `/console/${string}`
  handle(request: PageRequest): Promise<Response>
}

export interface PageRequest {
  readonly id: string
  readonly url: URL
  readonly header: ReadHeader
  readonly address: () => string | undefined
}

export interface ConsoleDeps {
  readonly console?: ConsoleFiles
  readonly consolePages?: readonly ConsolePage[]
  readonly links: LoginLinks
  readonly sessions: Sessions
  readonly requests: RequestTurns
}

/** Mounts `/console`: computed pages first, then the files of the web application. */
export function mountConsole(app: Hono, deps: ConsoleDeps): void {
  const { console: files, consolePages = [], requests } = deps
  app.use('/console/*', async (_, next) => {
    await requests.take(NOBODY)
    await next()
  })
  for (const page of [startPage(deps), ...consolePages])
    app.get(page.path, (c) =>
      page.handle({
        id: requestIdOf(c),
        url: new URL(c.req.url),
        header: (name) => headerOf(c, name),
        address: () => addressOf(c),
      }),
    )
  if (!files) return
  app.get('/console/*', async (c) => {
    const response = await files.serve(c.req.path, (name) => headerOf(c, name))
    if (!response) throw fail('not_found', `The path ${c.req.path} does not exist`)
    return response
  })
}

/** A login link, which this server printed at its start, signs in once. */
const startPage = ({ links, sessions }: ConsoleDeps): ConsolePage => ({
  path: '/console/start',
  async handle({ url, header, address }) {
    if (!isThisMachine(address()) || header('sec-fetch-site') === 'cross-site')
      return messagePage(403, 'This link works on the machine of the server only.')
    const key = links.redeem(url.searchParams.get('token') ?? '')
    if (!key)
      return messagePage(
        410,
        'This link was used, or is older than ten minutes. Sign in with a key, or start the server again.',
      )
    const cookie = await sessions.begin(key.orgId, { keyId: key.keyId })
    const headers = { 'Set-Cookie': writeCookie(sessions.place, cookie), Location: '/console' }
    return new Response(null, { status: 303, headers: { ...CONSOLE_HEADERS, ...headers } })
  },
})

const isThisMachine = (address = ''): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'

/** Headers of every page below `/console`. */
export const CONSOLE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Returns a text as HTML. */
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)

/** A link of a message page. */
export interface PageLink {
  readonly href: string
  readonly text: string
}

/** A page with a message, which works without the web application. */
export function messagePage(
  status: number,
  message: string,
  links: readonly PageLink[] = [{ href: '/console', text: 'Continue to the console' }],
  headers: Readonly<Record<string, string>> = {},
): Response {
  const list = links.map(
    ({ href, text }) => `<p><a href="${escapeHtml(href)}">${escapeHtml(text)}</a></p>`,
  )
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Remit</title>
<link rel="icon" href="data:,">
<h1>Remit</h1>
<p>${escapeHtml(message)}</p>
${list.join('\n')}
</html>
`
  const type = { 'Content-Type': 'text/html; charset=utf-8' }
  return new Response(html, { status, headers: { ...CONSOLE_HEADERS, ...type, ...headers } })
}
