import type { Outbound } from '@remit/core/net'

/** The record that proves a domain. */
const recordOf = (domain: string): string => `_remit-login.${domain}`

/** The value that names an organization. */
const proofOf = (orgId: string): string => `remit-organization=${orgId}`

/** Returns the domains with the result of a lookup of their TXT records. */
export const proveDomains = (
  outbound: Outbound,
  orgId: string,
  domains: readonly string[],
): Promise<{ domain: string; verified: number }[]> =>
  Promise.all(
    [...new Set(domains)].toSorted().map(async (domain) => {
      const texts = await outbound.textsOf(recordOf(domain))
      return { domain, verified: texts.includes(proofOf(orgId)) ? 1 : 0 }
    }),
  )

/** Returns the domain of an address, for comparisons; null for a text that is no address. */
export function domainOf(address: string): string | null {
  const at = address.lastIndexOf('@')
  return at < 1
    ? null
    : address
        .slice(at + 1)
        .normalize('NFC')
        .toLowerCase()
}
