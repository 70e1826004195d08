import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { column, dialectOf } from './portable.ts'
import { schemaReleaseMigration } from './schema-release.ts'

/** The start of pruned ledgers; the trigger allows deletions below it. */
const pruning: Migration = {
  async up(db: Kysely<never>) {
    const { text, integer, clustered } = column(db)
    await sql`create table ledger_cut (
      org_id ${text} primary key, size ${integer} not null, hash ${text} not null, recorded_at ${text} not null,
      frontier ${text} not null, vkey ${text} not null) ${clustered}`.execute(db)
    // Entries of kind `ledger.*` are rare and are looked up by kind. `/` follows `.` in byte order.
    await sql`create index ledger_entry_own on ledger_entry (org_id, seq)
      where kind >= 'ledger.' and kind < 'ledger/'`.execute(db)
    await sql`create index ledger_entry_carried on ledger_entry (org_id, seq)
      where kind = 'state.carried'`.execute(db)
    await (dialectOf(db) === 'postgres' ? pruningGuardPostgres(db) : pruningGuardSqlite(db))
  },
}

async function pruningGuardSqlite(db: Kysely<never>): Promise<void> {
  await sql`drop trigger ledger_entry_stays`.execute(db)
  await sql`create trigger ledger_entry_stays before delete on ledger_entry
    when not exists (select 1 from ledger_cut c where c.org_id = old.org_id and old.seq < c.size)
    begin select raise(abort, 'ledger entries are final'); end`.execute(db)
}

async function pruningGuardPostgres(db: Kysely<never>): Promise<void> {
  await sql`drop trigger ledger_entry_stays on ledger_entry`.execute(db)
  await sql`create function ledger_entry_keep() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from ledger_cut c where c.org_id = old.org_id and old.seq < c.size) then
        return old;
      end if;
      raise exception 'ledger entries are final';
    end $$`.execute(db)
  await sql`create trigger ledger_entry_stays before delete on ledger_entry for each row
    execute function ledger_entry_keep()`.execute(db)
}

const foundation: Migration = {
  async up(db: Kysely<never>) {
    const { text, integer, clustered } = column(db)
    const one = (statement: ReturnType<typeof sql>) => statement.execute(db)
    await one(sql`create table organization (
      id ${text} primary key, name ${text} not null unique, plan ${text} not null,
      settings ${text} not null, created_at ${text} not null)`)
    await one(sql`create table ingest_key (
      id ${text} primary key, org_id ${text} not null references organization (id), hash ${text} not null,
      role ${text} not null, person ${text}, name ${text}, created_at ${text} not null, revoked_at ${text})`)
    await one(sql`create index ingest_key_of_org on ingest_key (org_id, id)`)
    await one(sql`create table idempotency_key (
      org_id ${text} not null, key ${text} not null, request_hash ${text} not null, status ${integer} not null,
      headers ${text} not null, body ${text} not null, created_at ${text} not null, primary key (org_id, key))`)
    await one(sql`create index idempotency_key_by_age on idempotency_key (created_at)`)
    await one(sql`create table ledger_head (
      org_id ${text} primary key, size ${integer} not null, hash ${text} not null, recorded_at ${text} not null,
      frontier ${text} not null, note ${text} not null, origin ${text} not null, vkey ${text} not null,
      config_version ${integer} not null)`)
    await one(sql`create table ledger_entry (
      org_id ${text} not null, seq ${integer} not null, prev_hash ${text} not null, hash ${text} not null,
      recorded_at ${text} not null, kind ${text} not null, commitment ${text} not null, salt ${text}, payload ${text},
      agent_id ${text}, actor_id ${text}, action ${text}, decision ${text},
      primary key (org_id, seq))`)
    await one(sql`create index ledger_entry_of_agent on ledger_entry (org_id, agent_id, seq)`)
    await one(sql`create table ledger_checkpoint (
      org_id ${text} not null, size ${integer} not null, note ${text} not null, primary key (org_id, size)) ${clustered}`)
    await one(sql`create table ledger_node (
      org_id ${text} not null, level ${integer} not null, idx ${integer} not null, hash ${text} not null,
      primary key (org_id, level, idx)) ${clustered}`)
    await (dialectOf(db) === 'postgres' ? guardPostgres(db) : guardSqlite(db))
  },
}

const HASHED = ['org_id', 'seq', 'prev_hash', 'hash', 'recorded_at', 'kind', 'commitment']

/**
 * Protects against mistakes, not against attackers: entries can change only by losing their
 * payload.
 */
async function guardSqlite(db: Kysely<never>): Promise<void> {
  const changed = [
    ...HASHED.map((name) => `new.${name} is not old.${name}`),
    ...['salt', 'payload'].map(
      (name) => `(new.${name} is not null and new.${name} is not old.${name})`,
    ),
  ].join(' or ')
  await sql
    .raw(`create trigger ledger_entry_is_final before update on ledger_entry when ${changed}
      begin select raise(abort, 'ledger entries are final'); end`)
    .execute(db)
  await sql
    .raw(`create trigger ledger_entry_stays before delete on ledger_entry
      begin select raise(abort, 'ledger entries are final'); end`)
    .execute(db)
}

async function guardPostgres(db: Kysely<never>): Promise<void> {
  const changed = [
    ...HASHED.map((name) => `new.${name} is distinct from old.${name}`),
    ...['salt', 'payload'].map(
      (name) => `(new.${name} is not null and new.${name} is distinct from old.${name})`,
    ),
  ].join(' or ')
  await sql
    .raw(`create function ledger_entry_guard() returns trigger language plpgsql as $$
      begin raise exception 'ledger entries are final'; end $$`)
    .execute(db)
  await sql
    .raw(`create trigger ledger_entry_is_final before update on ledger_entry for each row when (${changed})
      execute function ledger_entry_guard()`)
    .execute(db)
  await sql
    .raw(`create trigger ledger_entry_stays before delete on ledger_entry for each row
      execute function ledger_entry_guard()`)
    .execute(db)
  await sql.raw('alter table ledger_head set (fillfactor = 50)').execute(db)
}

/**
 * An index for entries that an agent appended, or that were appended for it; decisions are not in
 * it.
 */
const appendedActors: Migration = {
  async up(db: Kysely<never>) {
    await sql`create index ledger_entry_appended_by on ledger_entry (org_id, actor_id, seq)
      where kind = 'entry.appended'`.execute(db)
  },
}

/** The same for gaps, which are appended too. */
const gapActors: Migration = {
  async up(db: Kysely<never>) {
    await sql`create index ledger_entry_gap_by on ledger_entry (org_id, actor_id, seq)
      where kind = 'enforcement.gap'`.execute(db)
  },
}

const sessions: Migration = {
  async up(db: Kysely<never>) {
    const { text } = column(db)
    await sql`create table console_session (
      hash ${text} primary key, org_id ${text} not null references organization (id), key_id ${text},
      person_id ${text}, role ${text}, email ${text}, name ${text}, created_at ${text} not null,
      seen_at ${text} not null)`.execute(db)
    await sql`create index console_session_of_person on console_session (org_id, person_id)`.execute(
      db,
    )
    await sql`create index console_session_of_key on console_session (key_id)`.execute(db)
    await sql`create index console_session_by_age on console_session (created_at)`.execute(db)
  },
}

const limits: Migration = {
  async up(db: Kysely<never>) {
    const { text, integer } = column(db)
    await sql`alter table organization add column limits ${text} not null default '{}'`.execute(db)
    await sql`alter table organization add column suspended_at ${text}`.execute(db)
    await sql`alter table ledger_head add column decided_month ${text} not null default ''`.execute(
      db,
    )
    await sql`alter table ledger_head add column decided ${integer} not null default 0`.execute(db)
  },
}

const deletion: Migration = {
  async up(db: Kysely<never>) {
    const { text, integer } = column(db)
    await sql`alter table organization add column delete_after ${text}`.execute(db)
    await sql`alter table organization add column deleted_at ${text}`.execute(db)
    await sql`create table deleted_organization (
      id ${text} primary key, deleted_at ${text} not null, origin ${text} not null,
      size ${integer} not null, entry ${text} not null, note ${text} not null)`.execute(db)
  },
}

const keyCreators: Migration = {
  async up(db: Kysely<never>) {
    const { text } = column(db)
    await sql`alter table ingest_key add column created_by ${text}`.execute(db)
  },
}

export const coreMigrations: Readonly<Record<string, Migration>> = {
  '0001_foundation': foundation,
  '0002_pruning': pruning,
  '0003_appended_actors': appendedActors,
  '0004_sessions': sessions,
  '0005_schema_release': schemaReleaseMigration,
  '0006_limits': limits,
  '0007_deletion': deletion,
  '0008_gap_actors': gapActors,
  '0009_key_creators': keyCreators,
}
