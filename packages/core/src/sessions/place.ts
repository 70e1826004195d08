/** The address of the console as browsers know it. */
export interface ConsolePlace {
  /** Origins whose pages may send requests with the cookie. The first one is the console's own. */
  readonly origins: readonly string[]
  readonly cookie: string
  /** False only on plain HTTP. */
  readonly isSecure: boolean
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1'])

/** Returns true for a name or address of this machine alone. */
export const isLoopback = (host: string): boolean => LOOPBACK.has(host)

/**
 * Returns the place of the console. The base URL decides, never a socket or `Host`, which a proxy or
 * a client chooses. Null without a base URL on an address that other machines reach: a cookie would
 * cross the network in plain text.
 */
export function consolePlace(
  baseUrl: string | undefined,
  host: string,
  port: number,
): ConsolePlace | null {
  if (baseUrl === undefined) {
    if (!isLoopback(host)) return null
    const origins = ['localhost', '127.0.0.1', '[::1]'].map((name) => `http://${name}:${port}`)
    return { origins, cookie: cookieAt(port), isSecure: false }
  }
  const { origin, protocol, port: own } = new URL(baseUrl)
  return protocol === 'https:'
    ? { origins: [origin], cookie: '__Host-remit_session', isSecure: true }
    : { origins: [origin], cookie: cookieAt(Number(own || 80)), isSecure: false }
}

/** Cookies do not distinguish ports, so that two servers on one machine need two names. */
const cookieAt = (port: number): string => `remit_session_${port}`
