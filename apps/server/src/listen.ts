import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { Remit } from '@remit/core'
import { answerBrokenRequests } from './broken-requests.ts'
import { gracefulStop } from './graceful-stop.ts'

/** A socket that is answered. */
export interface Listener {
  readonly url: string
  /** Answers what is under way, then resolves. */
  stop(): Promise<void>
}

export interface ListenOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Milliseconds that a request has to arrive in full; 30 s unless given. */
  readonly requestTimeoutMs?: number
}

/** A port or address that cannot be listened on. */
export class ListenError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ListenError'
  }
}

const MAX_HEADER_BYTES = 16 * 1024
const REQUEST_MS = 30_000

/** Listens and resolves when requests are answered. Throws `ListenError`. */
export function listen(
  app: Pick<Remit['app'], 'fetch'>,
  options: ListenOptions,
): Promise<Listener> {
  const { host, port, requestTimeoutMs = REQUEST_MS } = options
  return new Promise((resolve, reject) => {
    const server = serve(
      {
        fetch: app.fetch,
        hostname: host,
        port,
        overrideGlobalObjects: false,
        serverOptions: {
          maxHeaderSize: MAX_HEADER_BYTES,
          requestTimeout: requestTimeoutMs,
          headersTimeout: requestTimeoutMs,
          connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
          // Above the idle time of common load balancers, so that they are the ones to hang up.
          keepAliveTimeout: 65_000,
        },
      },
      (address) => {
        server.off('error', refuse)
        resolve({ url: urlOf(host, address), stop: gracefulStop(server) })
      },
    ) as Server
    const refuse = (error: NodeJS.ErrnoException) => reject(new ListenError(reason(error, options)))
    server.once('error', refuse)
    answerBrokenRequests(server)
  })
}

const ANY = new Set(['127.0.0.1', '0.0.0.0', '::', '::1'])

function urlOf(host: string, { port }: AddressInfo): string {
  if (ANY.has(host)) return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function reason({ code, message }: NodeJS.ErrnoException, { host, port }: ListenOptions): string {
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is taken by another process`
  if (code === 'EACCES') return `Port ${port} on ${host} needs rights that this process lacks`
  return `Port ${port} on ${host} cannot be listened on: ${message}`
}
