import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type PolicySetTables = {
  policy_set: PolicySetRow
  policy_set_object: PolicySetObjectRow
}

export type PolicySetRow = {
  org_id: string
  id: string
  revision: number
  /** Of the documents that were applied last. */
  digest: string
  locked: number
  applied_at: string
  applied_by: string
}

/** An object of a policy set as it was applied. An object is in one set at most. */
export type PolicySetObjectRow = {
  org_id: string
  kind: string
  object_id: string
  set_id: string
  name: string
  /** JSON of the spec; of settings, only those of the set. */
  spec: string
  /** The last change outside of the set; null without one since the set was applied. */
  changed_by: string | null
  changed_seq: number | null
  changed_at: string | null
}

export const policySetMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`create table policy_set (
      org_id ${text} not null, id ${text} not null, revision ${integer} not null, digest ${text} not null,
      locked ${integer} not null, applied_at ${text} not null, applied_by ${text} not null,
      primary key (org_id, id))`.execute(db)
    await sql`create table policy_set_object (
      org_id ${text} not null, kind ${text} not null, object_id ${text} not null, set_id ${text} not null,
      name ${text} not null, spec ${text} not null, changed_by ${text}, changed_seq ${integer},
      changed_at ${text}, primary key (org_id, kind, object_id))`.execute(db)
    await sql`create index policy_set_object_of_set on policy_set_object (org_id, set_id)`.execute(
      db,
    )
  },
}
