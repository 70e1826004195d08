import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { column, dialectOf } from './portable.ts'

/** The start of pruned ledgers; the trigger allows deletions below it. */
export const pruning: Migration = {
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
    await (dialectOf(db) === 'postgres' ? guardPostgres(db) : guardSqlite(db))
  },
}

async function guardSqlite(db: Kysely<never>): Promise<void> {
  await sql`drop trigger ledger_entry_stays`.execute(db)
  await sql`create trigger ledger_entry_stays before delete on ledger_entry
    when not exists (select 1 from ledger_cut c where c.org_id = old.org_id and old.seq < c.size)
    begin select raise(abort, 'ledger entries are final'); end`.execute(db)
}

async function guardPostgres(db: Kysely<never>): Promise<void> {
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
