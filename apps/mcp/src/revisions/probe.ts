import { isMembers } from '../rpc/members.ts'
import { META_KEYS } from '../rpc/protocol.ts'
import type { Era } from '../rpc/protocol.ts'
import { Refused } from '../upstream/connection.ts'
import type { Connection } from '../upstream/connection.ts'
import { MODERN, requestOf } from './messages.ts'

/** Milliseconds after which a server that does not answer is one of 2025-11-25. */
const SILENT_MS = 10_000
/** Errors that only servers of 2026-07-28 know. */
const MODERN_ERRORS = new Set<unknown>([-32_020, -32_021, -32_022])

let probes = 0

/** Finds out the revision of a server. Rejects where it cannot be reached. */
export async function eraOfServer(server: Connection): Promise<Era> {
  const id = `remit-probe-${++probes}`
  const params = {
    _meta: { [META_KEYS.protocolVersion]: MODERN, [META_KEYS.clientCapabilities]: {} },
  }
  const silent = AbortSignal.timeout(SILENT_MS)
  try {
    const bytes = await server.call({
      request: requestOf(id, 'server/discover', params),
      signal: silent,
      mirrored: {},
      message: () => undefined,
      answered: () => undefined,
    })
    return eraIn(bytes)
  } catch (error) {
    if (error instanceof Refused) return eraIn(error.body)
    if (silent.aborted) return 'legacy'
    throw error
  }
}

/** The era that an answer to `server/discover` shows. Pure. */
function eraIn(answer: Buffer): Era {
  let value: unknown
  try {
    value = JSON.parse(answer.toString('utf8'))
  } catch {
    return 'legacy'
  }
  const { result, error } = isMembers(value) ? value : {}
  if (isMembers(result)) return isModern(result['supportedVersions']) ? 'modern' : 'legacy'
  if (!isMembers(error) || !MODERN_ERRORS.has(error['code'])) return 'legacy'
  const { data } = error
  const supported = isMembers(data) ? data['supported'] : undefined
  return supported === undefined || isModern(supported) ? 'modern' : 'legacy'
}

const isModern = (versions: unknown): boolean =>
  Array.isArray(versions) &&
  versions.some((version) => typeof version === 'string' && version >= MODERN)
