import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

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
export function isPrivateAddress(text: string): boolean {
  if (isIP(text) === 0) return false
  const address = ipaddr.parse(text)
  return PRIVATE.has(address.range()) && !CLOUD_HOSTS.has(address.toString())
}

/** The two loopback addresses for development; not the rest of 127.0.0.0/8. */
export const isLoopbackAddress = (text: string): boolean => text === '127.0.0.1' || text === '::1'
