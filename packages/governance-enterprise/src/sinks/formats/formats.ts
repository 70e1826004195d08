import type { Entry, SinkFormat } from '@remit/contract'
import { rowOf } from '@remit/contract/entries'
import type { EntryChange } from '@remit/contract/entries'
import { isRefusal } from '../targets/send.ts'
import type { Document } from '../targets/send.ts'

const OCSF_VERSION = '1.9.0'

const API_ACTIVITY = { category_uid: 6, class_uid: 6003 } as const
const ENTITY_MANAGEMENT = { category_uid: 3, class_uid: 3004 } as const
const OTHER = 99
const ACTIVITIES: Readonly<Record<AdministrativeChange['does'], number>> = {
  creation: 1,
  change: 3,
  deletion: 4,
}
const INFORMATIONAL = 1
const MEDIUM = 3
const SHA_256 = 3
const SYSTEM_USER = 3

/**
 * An entry as an event of OCSF: changes of agents, keys, people and rules are Entity Management, all
 * other entries API Activity. The fingerprint is the hash of the entry, which the ledger proves.
 */
function ocsfOf(entry: Entry, ledger: LedgerOfEntry): Document {
  const change = changeOf(entry.kind)
  const { class_uid, ...classified } = change ? entityManagement(entry, change) : apiActivity(entry)
  const { activity_id } = classified
  const isDecision = entry.kind === 'authorization.decided'
  const profiles = [
    ...(entry.agent_id === null ? [] : ['ai_operation']),
    ...(isDecision ? ['security_control'] : []),
    'record_integrity',
  ]
  return {
    class_uid,
    type_uid: class_uid * 100 + activity_id,
    ...classified,
    time: Date.parse(entry.recorded_at),
    severity_id: isRefusal(entry) ? MEDIUM : INFORMATIONAL,
    message: messageOf(entry),
    metadata: metadataOf(entry, ledger, profiles),
    actor: { user: userOf(entry) },
    ...(entry.agent_id !== null && { ai_agent: { uid: entry.agent_id } }),
    ...statusOf(entry),
    ...(isDecision && controlOf(entry)),
    attestation: attestationOf(entry, ledger),
    unmapped: { remit: { kind: entry.kind, decision: entry.decision, data: entry.data } },
  }
}

const apiActivity = (entry: Entry) => ({
  ...API_ACTIVITY,
  activity_id: OTHER,
  activity_name: entry.kind,
  api: { operation: entry.action ?? entry.kind, service: { name: 'Remit' } },
  src_endpoint: { name: entry.agent_id ?? entry.actor?.id ?? 'unknown' },
  ...(entry.resource !== null && { resources: [{ uid: entry.resource }] }),
})

const entityManagement = (entry: Entry, { object, does }: AdministrativeChange) => ({
  ...ENTITY_MANAGEMENT,
  activity_id: ACTIVITIES[does],
  entity: {
    uid: objectIdOf(object, entry.data) ?? entry.agent_id ?? String(entry.seq),
    type: object,
  },
})

const uidOf = ({ orgId }: LedgerOfEntry, seq: number): string => `${orgId}:${seq}`

const metadataOf = (entry: Entry, ledger: LedgerOfEntry, profiles: readonly string[]) => {
  const decision = entry.data?.['decision_id']
  return {
    version: OCSF_VERSION,
    product: { name: 'Remit', vendor_name: 'Remit' },
    profiles,
    uid: uidOf(ledger, entry.seq),
    sequence: entry.seq,
    event_code: entry.kind,
    log_name: 'ledger',
    original_time: entry.recorded_at,
    tenant_uid: ledger.orgId,
    ...(typeof decision === 'string' && { correlation_uid: decision }),
  }
}

const userOf = ({ actor }: Entry) =>
  actor?.type === 'system'
    ? { uid: actor.id, type_id: SYSTEM_USER, type: 'System' }
    : { uid: actor?.id ?? 'unknown', type_id: OTHER, type: actor?.type ?? 'erased' }

function statusOf({ kind, decision, reason }: Entry) {
  const detail = reason === null ? {} : { status_detail: reason }
  if (decision === 'allow') return { status_id: 1, status: 'Success', ...detail }
  if (decision === 'deny' || kind.endsWith('.refused'))
    return { status_id: 2, status: 'Failure', ...detail }
  return decision === null ? detail : { status_id: OTHER, status: decision, ...detail }
}

/** Action and disposition of the profile `security_control`. */
function controlOf({ decision }: Entry) {
  if (decision === 'allow')
    return { action_id: 1, action: 'Allowed', disposition_id: 1, disposition: 'Allowed' }
  if (decision === 'deny')
    return { action_id: 2, action: 'Denied', disposition_id: 2, disposition: 'Blocked' }
  const waits = decision ?? 'unknown'
  return { action_id: OTHER, action: waits, disposition_id: OTHER, disposition: waits }
}

const fingerprint = (hash: string) => ({
  algorithm_id: SHA_256,
  algorithm: 'SHA-256',
  value: hash,
})

const attestationOf = (entry: Entry, ledger: LedgerOfEntry) => ({
  uid: uidOf(ledger, entry.seq),
  chain_uid: ledger.origin,
  fingerprint: fingerprint(entry.hash),
  ...(entry.seq > 0 && {
    prev_event: {
      uid: uidOf(ledger, entry.seq - 1),
      fingerprint: fingerprint(entry.prev_hash),
    },
  }),
})

/** One line for people. */
const messageOf = ({ kind, decision, agent_id, action, resource }: Entry): string =>
  [kind, decision, agent_id, action, resource].filter((part) => part !== null).join(' ')

const ECS_VERSION = '9.0.0'

/**
 * An entry as a document of the Elastic Common Schema. Members without a field there are below
 * `remit`; `remit.data` is best mapped as `flattened`.
 */
function ecsOf(entry: Entry, { orgId, origin }: LedgerOfEntry): Document {
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

export interface LedgerOfEntry {
  readonly orgId: string
  readonly origin: string
}

export const FORMATS: Readonly<
  Record<SinkFormat, (entry: Entry, ledger: LedgerOfEntry) => Document>
> = {
  remit: (entry, { orgId }) => ({ org_id: orgId, ...entry }),
  ocsf: ocsfOf,
  ecs: ecsOf,
}

interface AdministrativeChange extends EntryChange {
  /** Type of the changed object, such as `policy`. */
  readonly object: string
}

/** The administrative change of an entry of this kind; null for all other entries. */
function changeOf(kind: string): AdministrativeChange | null {
  const change = rowOf(kind)?.change
  return change ? { ...change, object: kind.slice(0, kind.indexOf('.')) } : null
}

/** The id of the object that an administrative entry holds; null if it names none. */
function objectIdOf(object: string, data: Readonly<Record<string, unknown>> | null): string | null {
  const held = data?.[object] ?? data?.['member']
  const fields = typeof held === 'object' && held !== null ? (held as Record<string, unknown>) : {}
  const id = fields['id'] ?? fields['agent_id'] ?? data?.[`${object}_id`]
  return typeof id === 'string' ? id : null
}
