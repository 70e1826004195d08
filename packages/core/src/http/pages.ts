import type { Hono } from 'hono'

/** A fixed document outside of `/v1`, served without a key. */
export interface PublicPage {
  /** Begins with `/`; matched as it is. */
  readonly path: string
  /** The media type, with its charset where it is text. */
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

const SNIFFING_OFF = { 'X-Content-Type-Options': 'nosniff' }

/** Serves each page as given, to GET and HEAD. */
export function mountPages(app: Hono, pages: readonly PublicPage[]): void {
  for (const { path, type, body, headers } of pages)
    app.get(path, (c) => c.body(body, 200, { 'Content-Type': type, ...SNIFFING_OFF, ...headers }))
}

/**
 * `/openapi.json`. `makeDocument` runs once, at the first request: it takes longer than the rest of
 * the start. It runs again if it failed.
 */
export function mountOpenApi(app: Hono, makeDocument: () => Promise<string>): void {
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
}
