import { fail } from '../base/errors.ts'
import type { ConsolePlace } from './place.ts'

/** The headers of a request by their lower-case names. */
export type ReadHeader = (name: string) => string | undefined

/**
 * Refuses a request that a page of another origin may have sent (cross-site request forgery).
 * Browsers set `Sec-Fetch-Site`, and pages cannot; where it is absent, as on plain HTTP, `Origin`
 * decides. Throws `csrf_refused`.
 */
export function requireSameOrigin(header: ReadHeader, { origins }: ConsolePlace): void {
  const site = header('sec-fetch-site')
  const isOwn =
    site === undefined ? origins.includes(header('origin') ?? '') : site === 'same-origin'
  if (!isOwn)
    throw fail(
      'csrf_refused',
      'Send Sec-Fetch-Site: same-origin, or, where a client cannot send that header, Origin with the address of this server',
    )
}
