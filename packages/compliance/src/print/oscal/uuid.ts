import { createHash } from 'node:crypto'

/** The namespace of the identifiers in our OSCAL documents, generated once at random. */
const NAMESPACE = Buffer.from('6f0c8bb2a1e94d7c9d35f1c2a4be7e10', 'hex')

/** A UUID of version 5 (RFC 9562 section 5.5): equal names give equal UUIDs. */
export function uuidOf(...name: readonly string[]): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name.join('/')).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
