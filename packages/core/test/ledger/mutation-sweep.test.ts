import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Dialect } from '../../src/db/portable.ts'
import type { CoreTables } from '../../src/db/schema.ts'
import { SYSTEM } from '../../src/caller/caller.ts'
import { createClock, createTestRemit, DIALECTS, sampled } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAttack, dropGuards, setEntry } from '../support/attacker.ts'
import { flipped } from '../support/attack-shapes.ts'
import { append, grow } from '../support/drafts.ts'
import { verify } from '../support/layers.ts'
import { prune } from '../support/pruning.ts'

/** Cells whose change is not found, and why nobody is misled by them. */
const NOT_AUTHORITATIVE: Readonly<Record<string, string>> = {
  'ledger_head.config_version':
    'No part of the record: it tells servers when to read rules again, and counts on from whatever it is.',
  'ledger_head.decided_month': 'No part of the record: it belongs to the count of decisions.',
  'ledger_head.decided':
    'No part of the record: it enforces the monthly limit, and the entries can be counted.',
}

/** Each table of the ledger with its primary key. */
const TABLES = {
  ledger_entry: ['org_id', 'seq'],
  ledger_head: ['org_id'],
  ledger_checkpoint: ['org_id', 'size'],
  ledger_node: ['org_id', 'level', 'idx'],
  ledger_cut: ['org_id'],
} as const satisfies { [table in keyof CoreTables]?: readonly (keyof CoreTables[table])[] }

type Value = string | number | null

interface Cell {
  readonly column: string
  readonly row: Readonly<Record<string, Value>>
}

/** Another value of the same type, or null every other time where null is written at all. */
function mutated({ column, row }: Cell, nth: number): Value {
  const value = row[column]
  if (value === undefined || value === null) return 'x'
  // Far away, so that no other row has that key.
  if (typeof value === 'number') return value + 1_000_000
  const isOptional = ['salt', 'payload', 'agent_id', 'actor_id', 'action', 'decision'].includes(
    column,
  )
  if (isOptional && nth % 2 === 0) return null
  return flipped(value, (nth * 7_919) % value.length)
}

/**
 * In a complete run each cell of a long table is changed on one of the databases, every column and every row on
 * both; in a full run a fourth of these, others each time.
 */
const isTurnOf = (dialect: Dialect, nth: number): boolean =>
  nth % DIALECTS.length === DIALECTS.indexOf(dialect)

describe.each(DIALECTS)('every cell of the ledger on %s', (dialect) => {
  const clock = createClock()
  let remit: TestRemit
  let organizations: readonly string[]
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    const [large, small, pruned] = [
      (await remit.organization()).id,
      (await remit.organization()).id,
      (await remit.organization()).id,
    ]
    await grow(remit, pruned, 33, clock, 30_000)
    clock.advance(401 * 24 * 60 * 60 * 1000)
    await grow(remit, pruned, 53, clock, 30_000)
    await prune(remit, clock, pruned)
    await grow(remit, large, 280, clock, 4_000)
    const erased = { kind: 'ledger.erased', actor: SYSTEM, data: { seqs: [50] } }
    await append(remit, large, [erased])
    const nothing = {
      salt: null,
      payload: null,
      agent_id: null,
      actor_id: null,
      action: null,
      decision: null,
    }
    await remit.db.transaction().execute((tx) => setEntry(tx, large, 50, nothing))
    await grow(remit, large, 310, clock, 4_000)
    await grow(remit, small, 13, clock)
    await dropGuards(remit.db)
    organizations = [large, small, pruned]
  })
  afterAll(() => remit.close())

  test('is sound to begin with', async () => {
    for (const id of organizations) {
      const found = await remit.db.transaction().execute((tx) => verify(tx, id))
      expect(found).toMatchObject({ status: 'ok' })
    }
  })

  /** Returns whether verification detects the change of one cell. */
  async function isFound(table: keyof typeof TABLES, cell: Cell, nth: number): Promise<boolean> {
    const { column, row } = cell
    const isThisRow = TABLES[table].map((name) => sql`${sql.ref(name)} = ${row[name]}`)
    const { status } = await afterAttack(
      remit.db,
      (tx) =>
        sql`update ${sql.table(table)} set ${sql.ref(column)} = ${mutated(cell, nth)}
          where ${sql.join(isThisRow, sql` and `)}`.execute(tx),
      (tx) => verify(tx, String(row['org_id'])),
    )
    return status !== 'ok'
  }

  test.each(Object.keys(TABLES) as (keyof typeof TABLES)[])(
    'a changed cell of %s is found, or it is listed as without authority',
    { timeout: 240_000 },
    async (table) => {
      const rows = (await remit.db.selectFrom(table).selectAll().execute()) as Cell['row'][]
      // By column, so that a sample has cells of each.
      const columns = Object.keys(rows[0] ?? {})
      const cells = columns.flatMap((column, at) => {
        const all = rows.map((row): Cell => ({ column, row }))
        if (all.length <= 20) return all
        return sampled(
          all.filter(({ row }) => isTurnOf(dialect, Number(row[TABLES[table].at(-1)!]) + at)),
          13,
          4,
        )
      })
      const missed = new Set<string>()
      const queue = cells.entries()
      const sweep = async () => {
        for (const [nth, cell] of queue) {
          if (!(await isFound(table, cell, nth))) missed.add(`${table}.${cell.column}`)
        }
      }
      await Promise.all([sweep(), sweep(), sweep()])

      const listed = Object.keys(NOT_AUTHORITATIVE).filter((name) => name.startsWith(`${table}.`))
      expect([...missed]).toEqual(listed)
      expect(cells.length).toBeGreaterThan(3)
    },
  )
})
