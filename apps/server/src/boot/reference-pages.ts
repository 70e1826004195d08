import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PublicPage } from '@remit/core/http'

const html = (guides: string) => `<!doctype html>
<html lang="en">
<link rel="icon" href="data:,">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Remit API reference</title>
<link rel="stylesheet" href="/docs/reference.css">
<script type="module" src="/docs/openapi-explorer.js"></script>
<openapi-explorer spec-url="/openapi.json" default-schema-tab="schema" collapse display-nav-path
  primary-color="#1f5fbf" secondary-color="#1f5fbf" bg-color="#ffffff" text-color="#1f2328"
  nav-bg-color="#f6f7f9" nav-text-color="#424a53" nav-hover-text-color="#1f5fbf">${guides}</openapi-explorer>
</html>
`

const CSS = `html, body { margin: 0; height: 100%; }
openapi-explorer { display: block; height: 100%; }
.guides { display: block; padding: 16px; color: #1f5fbf; font: 600 14px system-ui, sans-serif; }
`

// The page loads nothing from elsewhere, and no other page can frame it; the viewer sets styles on
// elements. `default-src` covers neither frames of this page, nor its base URL, nor its forms.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const EXPLORER = 'openapi-explorer/dist/browser/openapi-explorer.min.js'

/** A link of the navigation; the address comes from a setting, and a URL has no `<` and no `"`. */
const linkTo = (site: string) =>
  `<a slot="nav-header" class="guides" href="${new URL(site).href.replaceAll('&', '&amp;')}">Guides</a>`

/**
 * The API reference at `/docs`, which reads `/openapi.json` and works offline.
 *
 * @param site - Address of the documentation's site, to link to.
 */
export function referencePages(site?: string): PublicPage[] {
  const text = new TextEncoder()
  return [
    {
      path: '/docs',
      type: 'text/html; charset=utf-8',
      body: text.encode(html(site === undefined ? '' : linkTo(site))),
      headers: { 'Content-Security-Policy': POLICY },
    },
    { path: '/docs/reference.css', type: 'text/css; charset=utf-8', body: text.encode(CSS) },
    {
      path: '/docs/openapi-explorer.js',
      type: 'text/javascript; charset=utf-8',
      body: new Uint8Array(readFileSync(fileURLToPath(import.meta.resolve(EXPLORER)))),
    },
  ]
}
