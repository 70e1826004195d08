import type { Entry } from '@remit/contract'
import type { Document } from '../targets/target.ts'
import { changeOf } from './change-of.ts'
import type { LedgerOfEntry } from './formats.ts'
import { messageOf } from './ocsf.ts'

/** The version of the Elastic Common Schema. */
const ECS_VERSION = '9.0.0'

/**
 * An entry as a document of the Elastic Common Schema. Members without a field there are below
 * `remit`; `remit.data` is best mapped as `flattened`.
 */
export function ecsOf(entry: Entry, { orgId, origin }: LedgerOfEntry): Document {
  const { seq, kind, recorded_at: at, actor, agent_id: agentId, hash, reason } = entry
  const { trace_id: traceId, span_id: spanId } = entry.data ?? {}
  const users = [actor?.id, agentId].filter((id) => typeof id === 'string')
  return {
    '@timestamp': at,
    ecs: { version: ECS_VERSION },
    message: messageOf(entry),
    event: {
      kind: 'event',
      ...categoryOf(entry),
      action: kind,
      outcome: outcomeOf(entry),
      id: `${orgId}:${seq}`,
      sequence: seq,
      hash,
      module: 'remit',
      dataset: 'remit.ledger',
      provider: 'remit',
      ...(reason !== null && { reason }),
    },
    organization: { id: orgId },
    service: { name: 'remit', type: 'remit' },
    ...(actor && { user: { id: actor.id } }),
    related: { user: [...new Set(users)], hash: [hash] },
    ...(typeof traceId === 'string' && { trace: { id: traceId } }),
    ...(typeof spanId === 'string' && { span: { id: spanId } }),
    remit: {
      origin,
      kind,
      prev_hash: entry.prev_hash,
      commitment: entry.commitment,
      salt: entry.salt,
      actor,
      agent_id: agentId,
      action: entry.action,
      resource: entry.resource,
      decision: entry.decision,
      data: entry.data,
    },
  }
}

function categoryOf({ kind, decision }: Entry) {
  const change = changeOf(kind)
  if (change?.area === 'iam') return { category: ['iam'], type: ['admin', change.does] }
  if (change) return { category: ['configuration'], type: [change.does] }
  if (kind === 'person.signed_in') return { category: ['authentication'], type: ['start'] }
  if (kind === 'person.signed_out') return { category: ['authentication'], type: ['end'] }
  if (decision === 'allow') return { category: ['api'], type: ['allowed'] }
  return { category: ['api'], type: [decision === 'deny' ? 'denied' : 'info'] }
}

function outcomeOf({ kind, decision }: Entry): 'success' | 'failure' | 'unknown' {
  if (decision === 'deny' || kind.endsWith('.refused')) return 'failure'
  if (decision === 'allow' || changeOf(kind)) return 'success'
  return 'unknown'
}
