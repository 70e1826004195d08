import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '../config/read.ts'
import { Fault } from './fault.ts'

export interface Origins {
  /** Host names under which the gateway is reached. */
  readonly hosts: ReadonlySet<string>
  readonly origins: ReadonlySet<string>
}

/** The hosts and origins of a gateway at `url` that listens on `host`. Pure. */
export function originsOf(url: URL, host: string, allowed: readonly string[]): Origins {
  const local = isLoopback(host) ? ['localhost', '127.0.0.1', '[::1]'] : []
  return { hosts: new Set([url.hostname, ...local]), origins: new Set([url.origin, ...allowed]) }
}

/**
 * Refuses what a page in a browser could send to a gateway that it must not reach (DNS rebinding). Throws
 * `Fault`. Pure.
 */
export function checkOrigin({ hosts, origins }: Origins, headers: IncomingHttpHeaders): void {
  const name = `http://${headers.host ?? ''}`
  const host = URL.canParse(name) ? new URL(name).hostname : ''
  if (!hosts.has(host)) throw new Fault(403, `Host: must be one of ${[...hosts].join(', ')}.`)
  const { origin } = headers
  if (origin !== undefined && !origins.has(origin))
    throw new Fault(403, `Origin: ${origin} is not one of allowed_origins.`)
}
