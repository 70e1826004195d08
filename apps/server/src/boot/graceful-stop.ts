import type { Server, ServerResponse } from 'node:http'
import type { Server as Socket } from 'node:net'
import type { OpenResponses } from './listen.ts'

/** Milliseconds after which open connections are closed; below the usual grace period of 30 s. */
const CUT_MS = 25_000
const SWEEP_MS = 50

/**
 * Prepares a server to be stopped. The returned function stops accepting, lets every request under
 * way be answered (with `Connection: close`, so that no client sends another one into a closing
 * connection) and resolves when the last connection is gone. `others` are further listening sockets
 * whose connections the server answers.
 */
export function gracefulStop(
  server: Server,
  open: OpenResponses,
  others: readonly Socket[] = [],
): () => Promise<void> {
  return () => {
    server.prependListener('request', (_request, response: ServerResponse) => {
      response.setHeader('Connection', 'close')
    })
    for (const response of open.all()) {
      if (!response.headersSent) response.setHeader('Connection', 'close')
    }
    return closed(server, others)
  }
}

async function closed(server: Server, others: readonly Socket[]): Promise<void> {
  // Connections whose response had started before the stop become idle without an event.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  const cut = setTimeout(() => server.closeAllConnections(), CUT_MS)
  await Promise.all(
    [server, ...others].map((each) => new Promise((resolve) => each.close(resolve))),
  )
  clearInterval(sweep)
  clearTimeout(cut)
}
