import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hono } from 'hono'

const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Remit API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: true, validatorUrl: null })\n`

// The page loads nothing from elsewhere, and no other page can frame it; Swagger UI sets styles on
// elements. `default-src` covers neither frames of this page, nor its base URL, nor its forms.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const SNIFFING_OFF = { 'X-Content-Type-Options': 'nosniff' }

/**
 * `/openapi.json`, and `/docs` to read and try it offline. `makeDocument` runs once, at the first
 * request for the document: it takes longer than the rest of the start. It runs again if it failed.
 */
export function mountDocs(app: Hono, makeDocument: () => Promise<string>): void {
  const folder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))
  let document: Promise<Uint8Array<ArrayBuffer>> | undefined
  app.get('/openapi.json', async (c) => {
    document ??= makeDocument().then(
      (text) => new TextEncoder().encode(text),
      (error: unknown) => {
        document = undefined
        throw error
      },
    )
    return c.body(await document, 200, { 'Content-Type': 'application/json', ...SNIFFING_OFF })
  })
  app.get('/docs', (c) => c.html(PAGE, 200, { 'Content-Security-Policy': POLICY, ...SNIFFING_OFF }))
  app.get('/docs/start.js', (c) =>
    c.body(START, 200, { 'Content-Type': 'text/javascript; charset=utf-8', ...SNIFFING_OFF }),
  )
  for (const [name, type] of Object.entries(ASSETS)) {
    const bytes = readFileSync(join(folder, name))
    app.get(`/docs/${name}`, (c) => c.body(bytes, 200, { 'Content-Type': type, ...SNIFFING_OFF }))
  }
}
