import { lookup, Resolver } from 'node:dns/promises'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { exchange, handOut, OutboundDeadlines, OutboundError } from './exchange.ts'
import type { Address, OutboundRequest, OutboundResponse, CheckedTarget } from './exchange.ts'

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
    use: (reached: CheckedTarget) => Promise<T>,
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
  { url, addresses, ending, ca }: CheckedTarget & { readonly ca: string | undefined },
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

function secured(socket: TLSSocket, addresses: CheckedTarget['addresses']): Promise<void> {
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

interface TargetRules {
  /** Also plain http, any port, and 127.0.0.1, ::1 and localhost: development and tests only. */
  readonly allowLoopback: boolean
  /** Also names of a private network, and any port; still https only. Default: false. */
  readonly allowPrivate?: boolean
  /** Also ports other than 443. Default: false. */
  readonly anyPort?: boolean
  /** True if the URL may have a query. */
  readonly allowQuery: boolean
}

/** The URL as it will be fetched, or why it never will be: a clause that follows the field's name. */
type TargetCheck = { readonly url: URL } | { readonly refused: string }

/** Endings of names that mean something only inside some network (RFC 6761, 6762, 7686, 8375, 9476). */
const INSIDE = /\.(localhost|local|internal|lan|home|corp|arpa|onion|test)$/

/**
 * Checks a URL of a client, before any name is looked up. It is judged as
 * WHATWG parses it, so that `https://0x7f.1` is the address that it means.
 */
export function checkTarget(text: string, rules: TargetRules): TargetCheck {
  const url = URL.parse(text)
  if (!url) return { refused: 'must be an absolute https URL' }
  const reason = complaint(url, text, rules)
  return reason === null ? { url } : { refused: reason }
}

/** Host of a URL as sockets want it: IPv6 without brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || isLoopbackAddress(host)

function complaint(url: URL, text: string, rules: TargetRules): string | null {
  const host = hostOf(url)
  const isLoopback = rules.allowLoopback && isLoopbackHost(host)
  if (url.protocol !== 'https:' && !(isLoopback && url.protocol === 'http:'))
    return 'must be an https URL'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (text.includes('#')) return 'must not have a fragment'
  if (!rules.allowQuery && text.includes('?')) return 'must not have a query'
  if (isLoopback) return null
  if (isIP(host) !== 0) return 'must have a host name, not an IP address'
  if (host.endsWith('.')) return 'must have a host name without a trailing dot'
  if (rules.allowPrivate) return null
  if (!host.includes('.') || INSIDE.test(host)) return 'must have a host of the public internet'
  if (url.port !== '' && !rules.allowLoopback && !rules.anyPort) return 'must use port 443'
  return null
}

/** All allocated IPv6 addresses; the library treats every range without a name as public. */
const GLOBAL_IPV6 = ipaddr.IPv6.parse('2000::')
/** Where clouds give secrets to their machines, besides link-local addresses: Azure, Alibaba, AWS, Google. */
const CLOUD_HOSTS: ReadonlySet<string> = new Set([
  '168.63.129.16',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd20:ce::254',
])

/** Returns true if an address is public and not an internal one of a cloud. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv6) return address.match(GLOBAL_IPV6, 3)
  return !CLOUD_HOSTS.has(address.toString())
}

/** Ranges of addresses inside an organization (RFC 1918, RFC 4193, RFC 6598). */
const PRIVATE: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'carrierGradeNat'])

/** Returns true if an address is of a private network and not one where clouds have secrets. */
function isPrivateAddress(text: string): boolean {
  if (isIP(text) === 0) return false
  const address = ipaddr.parse(text)
  return PRIVATE.has(address.range()) && !CLOUD_HOSTS.has(address.toString())
}

/** The two loopback addresses for development; not the rest of 127.0.0.0/8. */
const isLoopbackAddress = (text: string): boolean => text === '127.0.0.1' || text === '::1'

const TRY_MS = 900
const TRIES = 2

/**
 * Returns the addresses of a name from the system's name servers, or `servers`; throws if they have none.
 *
 * The system's own look-up occupies one of few threads until it gives up. The slow names of one
 * organization would delay the look-ups of all others for minutes.
 */
export async function askNameServers(
  name: string,
  servers?: readonly string[],
): Promise<readonly Address[]> {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  if (servers) resolver.setServers(servers)
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = answers.flatMap((answer, i) =>
    answer.status === 'fulfilled'
      ? answer.value.map((address) => ({ address, family: i === 0 ? 4 : 6 }))
      : [],
  )
  if (addresses.length === 0) throw new Error('the name has no address')
  return addresses
}

/** A response with more bytes than the limit. */
export class AnswerTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the response exceeds ${maxBytes} bytes`)
    this.name = 'AnswerTooLarge'
  }
}

/**
 * Returns the text of a response of at most `maxBytes`, counted after decompression. Throws
 * `AnswerTooLarge` at the first excess byte and closes the connection: `Response.text()` would
 * buffer all of it.
 */
export async function boundedText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    // Leaving the loop cancels the rest.
    if (size > maxBytes) throw new AnswerTooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
