import { isIP } from 'node:net'
import { isLoopbackAddress } from './address.ts'

export interface TargetRules {
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
export type TargetCheck = { readonly url: URL } | { readonly refused: string }

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
