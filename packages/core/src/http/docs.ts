import { readFile } from 'node:fs/promises'
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

// The page loads nothing from elsewhere; the styles that Swagger UI sets on elements are its own.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"

/** `/openapi.json`, and `/docs` to read and try it offline. */
export function mountDocs(app: Hono, document: object): void {
  const folder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))
  app.get('/openapi.json', (c) => c.json(document))
  app.get('/docs', (c) => c.html(PAGE, 200, { 'Content-Security-Policy': POLICY }))
  app.get('/docs/start.js', (c) =>
    c.body(START, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  )
  for (const [name, type] of Object.entries(ASSETS)) {
    app.get(`/docs/${name}`, async (c) =>
      c.body(await readFile(join(folder, name)), 200, { 'Content-Type': type }),
    )
  }
}
