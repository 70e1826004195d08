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
