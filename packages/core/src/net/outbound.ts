import { lookup, Resolver } from 'node:dns/promises'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { exchange, handOut } from './exchange.ts'
import type { Address, OutboundRequest, OutboundResponse, Reached } from './exchange.ts'
import { isLoopbackAddress, isPrivateAddress, isPublicAddress } from './address.ts'
import { askNameServers } from './name-servers.ts'
import { OutboundDeadlines, OutboundError } from './outbound-deadlines.ts'
import { checkTarget, hostOf, isLoopbackHost } from './target.ts'
import type { TargetCheck } from './target.ts'

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<readonly Address[]>

/** The TXT records of a name, each in one piece. */
export type ResolveText = (name: string) => Promise<readonly string[]>

export interface OutboundOptions {
  /** Development and tests only: see `TargetRules`. */
  readonly allowLoopback: boolean
  /** For a target that the operator chose: it may be on a private network. Default: false. */
  readonly allowPrivate?: boolean
  /** Ports other than 443 too. Default: false. */
  readonly anyPort?: boolean
  /** The maximum duration of a request. Default: 5 s. */
  readonly totalMs?: number
  /** The system's name servers unless given. */
  readonly resolve?: Resolve
  /** Returns the TXT records of a name; asks the system's name servers unless given. */
  readonly resolveText?: ResolveText
  /** PEM of the authorities to trust in place of the built-in ones. */
  readonly ca?: string
}

/** Requests to addresses that others chose: webhooks, issuers. The one way from the server to them. */
export interface Outbound {
  /** Checks without a lookup that a URL can be a target. A query is allowed by default. */
  checkTarget(url: string, options?: { readonly query: boolean }): TargetCheck
  /**
   * One request on a connection of its own; follows nothing. Rejects with an `OutboundError` for all
   * but a whole answer, whatever its status (3xx excepted). Takes 5 s at most, 2 s to connect.
   */
  fetch(url: string, request: OutboundRequest): Promise<OutboundResponse>
  /** Returns the TXT records of a name; none if it has none or the lookup fails. */
  textsOf(name: string): Promise<readonly string[]>
  /**
   * Connects with TLS to the host and port of an https URL, under the same rules, and calls `use`
   * with the socket. The limits of a request hold for the connection and `use` together.
   */
  connect<T>(url: string, use: (socket: TLSSocket) => Promise<T>): Promise<T>
  /** The same client with other options. */
  with(options: Partial<OutboundOptions>): Outbound
}

const CONNECT_MS = 2_000
const TOTAL_MS = 5_000

export function createOutbound(options: OutboundOptions): Outbound {
  const { allowLoopback, allowPrivate = false, anyPort = false, ca } = options
  const { resolve = resolverFor(allowPrivate), totalMs = TOTAL_MS } = options
  const check: Outbound['checkTarget'] = (url, { query } = { query: true }) =>
    checkTarget(url, { allowLoopback, allowPrivate, anyPort, allowQuery: query })
  const reach = async <T>(
    text: string,
    signal: AbortSignal | undefined,
    use: (reached: Reached) => Promise<T>,
  ): Promise<T> => {
    const target = check(text)
    if ('refused' in target) throw new OutboundError('target_refused', target.refused)
    using ending = new OutboundDeadlines({ connectMs: CONNECT_MS, totalMs }, signal)
    const host = hostOf(target.url)
    const addresses = await ending.race(addressesOf(host, resolve, allowPrivate))
    return await use({ url: target.url, addresses, ending })
  }
  return {
    checkTarget: check,
    fetch: (url, request) =>
      reach(url, request.signal, (reached) => exchange({ ...reached, request, ca })),
    connect: (url, use) => reach(url, undefined, (reached) => dialTls({ ...reached, ca }, use)),
    with: (more) => createOutbound({ ...options, ...more }),
    textsOf: (name) => (options.resolveText ?? systemTexts)(name).catch(() => []),
  }
}

const systemResolve: Resolve = (host) => lookup(host, { all: true, order: 'verbatim' })

/** Only the system knows the names of its hosts file and of a private network. */
const resolverFor =
  (allowPrivate: boolean): Resolve =>
  (host) =>
    allowPrivate || isLoopbackHost(host) ? systemResolve(host) : askNameServers(host)

async function systemTexts(name: string): Promise<readonly string[]> {
  const records = await new Resolver({ timeout: CONNECT_MS, tries: 1 }).resolveTxt(name)
  return records.map((parts) => parts.join(''))
}

/** The addresses to connect to, each of them allowed: one that is not spoils them all. */
async function addressesOf(
  host: string,
  resolve: Resolve,
  allowPrivate: boolean,
): Promise<readonly Address[]> {
  // Only a loopback address gets past `checkTarget` as a literal.
  if (isLoopbackAddress(host)) return [{ address: host, family: host === '::1' ? 6 : 4 }]
  const isReachable = (address: string): boolean =>
    isPublicAddress(address) || (allowPrivate && isPrivateAddress(address))
  const isAllowed = isLoopbackHost(host) ? isLoopbackAddress : isReachable
  const addresses = await resolve(host).catch(() => {
    throw new OutboundError('name_not_found', 'the DNS lookup of the host failed')
  })
  if (addresses.length === 0) throw new OutboundError('name_not_found', 'the host has no address')
  if (!addresses.every(({ address }) => isAllowed(address)))
    throw new OutboundError('address_refused', 'the host has a non-public address')
  return addresses
}

/**
 * Opens a TLS connection to one of the given addresses for the time of `use`. Every failure is an
 * `OutboundError`.
 */
async function dialTls<T>(
  { url, addresses, ending, ca }: Reached & { readonly ca: string | undefined },
  use: (socket: TLSSocket) => Promise<T>,
): Promise<T> {
  const host = hostOf(url)
  const socket = connect({
    host,
    port: Number(url.port === '' ? 443 : url.port),
    servername: host,
    lookup: handOut(addresses),
    // Regardless of `NODE_TLS_REJECT_UNAUTHORIZED`.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(ca !== undefined && { ca }),
  })
  const cut = () => void socket.destroy(ending.signal.reason as OutboundError)
  ending.signal.addEventListener('abort', cut, { once: true })
  // A failure after the first one must not end the process.
  socket.on('error', () => undefined)
  try {
    await secured(socket, addresses)
    ending.connected()
    return await ending.race(use(socket))
  } finally {
    ending.signal.removeEventListener('abort', cut)
    socket.destroy()
  }
}

function secured(socket: TLSSocket, addresses: Reached['addresses']): Promise<void> {
  return new Promise((resolve, reject) => {
    let code: 'connection_failed' | 'tls_failed' = 'connection_failed'
    socket.once('connect', () => {
      code = 'tls_failed'
      if (addresses.some(({ address }) => address === socket.remoteAddress)) return
      const refusal = 'the connection reached a different address than the resolved one'
      socket.destroy(new OutboundError('address_refused', refusal))
    })
    socket.once('secureConnect', () => resolve())
    socket.once('error', (error) =>
      reject(error instanceof OutboundError ? error : new OutboundError(code, SENTENCES[code])),
    )
    socket.once('close', () => reject(new OutboundError(code, SENTENCES[code])))
  })
}

const SENTENCES = {
  connection_failed: 'the connection to the host failed',
  tls_failed: 'the TLS certificate of the host is not trusted or TLS failed',
}
