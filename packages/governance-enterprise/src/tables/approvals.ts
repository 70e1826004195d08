import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type ApprovalTables = {
  approval_rule: ApprovalRuleRow
  approval_request: ApprovalRequestRow
}

export type ApprovalRuleRow = {
  org_id: string
  id: string
  /** JSON of a complete `ApprovalRuleInput` with defaults, without `mode`; `enabled`: enforced. */
  document: string
  /** 1: in the mode `observe`. */
  observed: number
  created_at: string
  created_by: string
  updated_at: string
}

/** One approval request with its votes, written only by the organization's writer. */
export type ApprovalRequestRow = {
  org_id: string
  id: string
  status: StoredStatus
  agent_id: string
  action: string
  /** JSON as requested; null if none. */
  resource: string | null
  /** JSON of the whole context. */
  context: string
  /** The person the agent acts for, as stated; null if none. */
  acting_for: string | null
  /** The hashed canonical JSON, and base64url of its SHA-256. */
  binding: string
  binding_hash: string
  /** JSON list of bound context members; null means all. */
  bound: string | null
  /** JSON of `Requirement[]`, the rules when the request was opened. */
  requirements: string
  /** JSON of `Vote[]`. */
  votes: string
  approval_ttl_seconds: number
  cooldown_seconds: number
  /** The requester: type and id of the principal, and its person. */
  requester_type: string
  requester_id: string
  requester_person: string | null
  /** JSON of `Asker[]`: further keys that made the same request while it was pending. */
  further_askers: string
  /** The decision that opened the request, and the allow that used it. */
  decision_id: string
  consumed_by: string | null
  requested_at: string
  expires_at: string
  decided_at: string | null
  usable_until: string | null
  /** The time at which it was consumed, cancelled, revoked or recorded as expired. */
  closed_at: string | null
  /**
   * The end of this status's effect on decisions: the end of a pending request, of an unused
   * approval, or of the cooldown after a rejection. Null if it has no effect.
   */
  counts_until: string | null
}

/** The stored status. Expiry is computed on read: see `lifecycle.ts`. */
export type StoredStatus =
  | 'pending'
  | 'approved'
  | 'rejected'
  | 'expired'
  | 'cancelled'
  | 'consumed'
  | 'revoked'

export const approvalMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`create table approval_rule (
      org_id ${text} not null, id ${text} not null, document ${text} not null, created_at ${text} not null,
      created_by ${text} not null, updated_at ${text} not null, primary key (org_id, id))`.execute(
      db,
    )
    await sql`create table approval_request (
      org_id ${text} not null, id ${text} not null, status ${text} not null, agent_id ${text} not null,
      action ${text} not null, resource ${text}, context ${text} not null, acting_for ${text},
      binding ${text} not null, binding_hash ${text} not null, bound ${text}, requirements ${text} not null,
      votes ${text} not null, approval_ttl_seconds ${integer} not null, cooldown_seconds ${integer} not null,
      requester_type ${text} not null, requester_id ${text} not null, requester_person ${text},
      decision_id ${text} not null, consumed_by ${text}, requested_at ${text} not null,
      expires_at ${text} not null, decided_at ${text}, usable_until ${text}, closed_at ${text},
      counts_until ${text}, primary key (org_id, id))`.execute(db)
    await sql`create index approval_request_by_binding on approval_request (org_id, binding_hash)
      where counts_until is not null`.execute(db)
    await sql`create index approval_request_by_status on approval_request (org_id, status, id)`.execute(
      db,
    )
    await sql`create index approval_request_by_agent on approval_request (org_id, agent_id, id)`.execute(
      db,
    )
    await sql`create index approval_request_by_end on approval_request (counts_until)
      where status in ('pending', 'approved')`.execute(db)
    // For the event stream, which reads few entries among many. `/` follows `.` in byte order.
    await sql`create index ledger_entry_approvals on ledger_entry (org_id, seq)
      where kind >= 'approval.' and kind < 'approval/'`.execute(db)
  },
}

export const askersMigration: Migration = {
  async up(db) {
    const { text } = column(db)
    await sql`alter table approval_request add column further_askers ${text} not null default '[]'`.execute(
      db,
    )
  },
}
