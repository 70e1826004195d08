import { expect, test } from 'vitest'
import { onShard } from './shard-texts.ts'

const SHARDS = new Map([
  ['ledger_head', 'ledger_head_102008'],
  ['ingest_key', 'ingest_key_102040'],
  ['approval', 'approval_102072'],
])
const of = (text: string) => onShard(text, SHARDS)

test.each([
  [
    'select * from ledger_head where org_id = $1 for update',
    'select * from ledger_head_102008 as ledger_head where org_id = $1 for update',
  ],
  [
    'select "ledger_head"."size" from "ledger_head" where "ledger_head"."org_id" = $1',
    'select "ledger_head"."size" from ledger_head_102008 as ledger_head where "ledger_head"."org_id" = $1',
  ],
  [
    'select "k"."id" from "ingest_key" as "k" inner join "ledger_head" as "h" on "h"."org_id" = "k"."org_id"',
    'select "k"."id" from ingest_key_102040 as "k" inner join ledger_head_102008 as "h" on "h"."org_id" = "k"."org_id"',
  ],
  [
    'select (select h.size from ledger_head h where h.org_id = k.org_id) from ingest_key k',
    'select (select h.size from ledger_head_102008 h where h.org_id = k.org_id) from ingest_key_102040 k',
  ],
  [
    'with w0 as (insert into approval (id) select id from unnest($1) as row(id)) insert into ledger_head (size) values ($2) on conflict (org_id) do update set size = ledger_head.size + excluded.size',
    'with w0 as (insert into approval_102072 as approval (id) select id from unnest($1) as row(id)) insert into ledger_head_102008 as ledger_head (size) values ($2) on conflict (org_id) do update set size = ledger_head.size + excluded.size',
  ],
  ['update "approval" set "a" = $1', 'update approval_102072 as approval set "a" = $1'],
  ['delete from "approval"', 'delete from approval_102072 as approval'],
])('names every table of %s', (text, expected) => {
  expect(of(text)).toBe(expected)
})

test.each([
  'select 1',
  'select * from other',
  // A second table in a list, a column with the name of a table, a table in a function.
  'select * from ledger_head h, ingest_key k',
  'select "approval" from "ledger_head"',
  "select count(*) from ledger_head where 'x' in (table approval)",
  'select * from "ledger_head" for update of "ledger_head"',
  'update public.approval set a = 1',
])('leaves %s unchanged', (text) => {
  expect(of(text)).toBe(text)
})
