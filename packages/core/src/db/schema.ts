import type { ArchiveRules } from './archived.ts'
import type { Placements } from './distributed.ts'

/** Rows of the core tables. Times are RFC 3339 text, flags 0/1, JSON is text. */
export type CoreTables = {
  organization: OrganizationRow
  ingest_key: IngestKeyRow
  console_session: SessionRow
  idempotency_key: IdempotencyRow
  ledger_head: LedgerHeadRow
  ledger_entry: LedgerEntryRow
  ledger_checkpoint: LedgerCheckpointRow
  ledger_node: LedgerNodeRow
  ledger_cut: LedgerCutRow
  deleted_organization: DeletedOrganizationRow
}

export const corePlacements: Placements<CoreTables & { schema_release: unknown }> = {
  organization: 'by id',
  ingest_key: 'by org_id, ids in the directory',
  console_session: 'by org_id',
  idempotency_key: 'by org_id',
  ledger_head: 'by org_id',
  ledger_entry: 'by org_id',
  ledger_checkpoint: 'by org_id',
  ledger_node: 'by org_id',
  ledger_cut: 'by org_id',
  // Listed for all organizations, also while a node is lost.
  deleted_organization: 'local',
  schema_release: 'local',
}

/** The columns of the core tables that an archive contains; the ledger is a file of its own. */
export const coreArchive: ArchiveRules<Omit<CoreTables, 'organization' | 'deleted_organization'>> =
  {
    ingest_key: { without: ['hash'] },
    console_session: 'none',
    idempotency_key: 'none',
    ledger_head: 'none',
    ledger_entry: 'none',
    ledger_checkpoint: 'none',
    ledger_node: 'none',
    ledger_cut: 'none',
  }

export type OrganizationRow = {
  id: string
  name: string
  plan: string
  settings: string
  created_at: string
  /** JSON of the limits that the operator set. */
  limits: string
  /** Since when the organization can only read; null while it is active. */
  suspended_at: string | null
  /** When its rows may be removed; null unless a deletion is scheduled. */
  delete_after: string | null
  /** When its last entry was written; its rows are being removed. */
  deleted_at: string | null
}

/** The end of the ledger of a deleted organization: it proves which entries existed. */
export type DeletedOrganizationRow = {
  id: string
  deleted_at: string
  origin: string
  size: number
  /** The last entry, `organization.deleted`, as a line of an export. */
  entry: string
  /** The checkpoint over all entries. */
  note: string
}

export type IngestKeyRow = {
  id: string
  org_id: string
  /** Hex SHA-256 of the whole key text. */
  hash: string
  role: string
  person: string | null
  name: string | null
  created_at: string
  revoked_at: string | null
  /** The key or person that created it; null for the operator, and in an earlier release. */
  created_by: string | null
}

/** A person, or a key, that has signed in to the console. Deleting the row ends the session. */
export type SessionRow = {
  /** Hex SHA-256 of the cookie. */
  hash: string
  org_id: string
  /** The session acts with this key and ends with it; null for a person. */
  key_id: string | null
  /** The person with the role, address and name of the sign-in; null for a key. */
  person_id: string | null
  role: string | null
  email: string | null
  name: string | null
  created_at: string
  /** The last request, to the minute. */
  seen_at: string
}

export type IdempotencyRow = {
  org_id: string
  /** The principal, a line feed and the `Idempotency-Key`. */
  key: string
  /** Hex SHA-256 over method, path and body. */
  request_hash: string
  status: number
  headers: string
  body: string
  created_at: string
}

/**
 * One row per organization: its lock, the end of its chain and the version of its configuration.
 */
export type LedgerHeadRow = {
  org_id: string
  size: number
  hash: string
  recorded_at: string
  /** The compact range of the tree: 64 hex digits a node. */
  frontier: string
  /** The newest signed checkpoint. */
  note: string
  /** The log's identity and the key that signs it now. */
  origin: string
  vkey: string
  config_version: number
  /** The UTC month (`2026-11`) of the last decision, and its decisions so far. */
  decided_month: string
  decided: number
}

/**
 * The first nine columns are the entry; the others are copies of payload fields, for filters only.
 */
export type LedgerEntryRow = {
  org_id: string
  seq: number
  prev_hash: string
  hash: string
  recorded_at: string
  kind: string
  commitment: string
  salt: string | null
  payload: string | null
  agent_id: string | null
  actor_id: string | null
  action: string | null
  decision: string | null
}

export type LedgerCheckpointRow = { org_id: string; size: number; note: string }

/**
 * The root of a complete subtree of 256^level leaves, from level 1; the leaves are the hashes of
 * the entries.
 */
export type LedgerNodeRow = { org_id: string; level: number; idx: number; hash: string }

/**
 * The start of a pruned ledger: the state after entry `size` - 1, as the entry `ledger.pruned`
 * records it. Unpruned ledgers have no row.
 */
export type LedgerCutRow = {
  org_id: string
  /** Number of removed entries, which is the sequence number of the first stored one. */
  size: number
  hash: string
  recorded_at: string
  frontier: string
  /** The key in force at the cut. */
  vkey: string
}
