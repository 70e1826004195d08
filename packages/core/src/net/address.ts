import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All of IPv6 that is given to networks; the library takes every range without a name for public. */
const GLOBAL_IPV6 = ipaddr.IPv6.parse('2000::')
/** Azure's host agent, on an address that is public by its range. */
const AZURE_HOST = '168.63.129.16'

/** Whether an address lies in the public internet, and belongs to no cloud's inside. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv6) return address.match(GLOBAL_IPV6, 3)
  return address.toString() !== AZURE_HOST
}

/** The two addresses that development may reach; not the rest of 127.0.0.0/8. */
export const isLoopbackAddress = (text: string): boolean => text === '127.0.0.1' || text === '::1'
