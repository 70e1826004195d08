import { Resolver } from 'node:dns/promises'
import type { Address } from './exchange.ts'

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
