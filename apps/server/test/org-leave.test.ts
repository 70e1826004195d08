import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { SYSTEM } from '@remit/core/caller'
import { on, organizationIds, organizationTables } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import { createLedgerSigner, openCheckpoint, parseVerifierKey } from '@remit/core/ledger/proofs'
import {
  deleteOrganization,
  exportConfiguration,
  findDeleted,
  OPERATOR,
  scheduleDeletion,
  suspendOrganization,
} from '@remit/core/orgs'
import {
  apiOf,
  citusNodes,
  createClock,
  createTestRemit,
  fullDialects,
  handMade,
} from '@remit/testing'
import type { Api, TestClock, TestRemit } from '@remit/testing'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

const DIALECTS = fullDialects()

const START = '2026-11-20T08:00:00.000Z'
const DAY_MS = 24 * 60 * 60 * 1000
/** Tables whose rows belong to no organization, or name it in the column `id`; views of Citus. */
const SHARED =
  /^(?:(?:deleted_|directory_)?organization|schema_release|process_lease|(?:migration|sqlite|citus)_\w+)$/
/** The ids of keys, on a cluster. */
const DIRECTORY = 'directory_key'

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
}

async function columnsOf(db: AnyDatabase, dialect: string): Promise<Column[]> {
  const query =
    dialect === 'postgres'
      ? sql<Column>`select table_name as "table", column_name as name, data_type as type
          from information_schema.columns where table_schema = 'public'`
      : sql<Column>`select t.name as "table", c.name as name, c.type as type
          from sqlite_master t join pragma_table_info(t.name) c where t.type = 'table'`
  return (await query.execute(db)).rows
}

/** The name of a column that says whose rows they are. */
const countIn = async (db: AnyDatabase, table: string, column: string, id: string) => {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}
    where ${sql.ref(column)} = ${id}`.execute(db)
  return Number(rows[0]?.count)
}

describe.skipIf(!hasModules()).each(DIALECTS)('an organization that leaves on %s', (dialect) => {
  let remit: TestRemit
  let clock: TestClock
  let api: Api
  beforeAll(async () => {
    clock = createClock(START)
    remit = await createTestRemit({ dialect, clock, modules: await loadModules() })
  })
  afterAll(() => remit.close())
  beforeEach(async () => {
    clock.set(START)
    api = apiOf(remit, await remit.organization())
  })

  /** Puts a row of an organization into every table that is empty for it. */
  async function fillAll(orgId: string): Promise<void> {
    const columns = Map.groupBy(await columnsOf(remit.db, dialect), ({ table }) => table)
    for (const { name } of await organizationTables(remit.db)) {
      if ((await countIn(remit.db, name, 'org_id', orgId)) > 0) continue
      const row = Object.fromEntries(
        (columns.get(name) ?? []).map((column) => [
          column.name,
          /int/i.test(column.type)
            ? 0
            : column.name === 'org_id'
              ? orgId
              : `${column.name} ${orgId}`,
        ]),
      )
      await on<Record<string, typeof row>>(remit.db).insertInto(name).values(row).execute()
    }
  }

  const leave = async (orgId: string) => {
    await suspendOrganization(remit.writer, orgId, { reason: 'left' })
    await scheduleDeletion(remit.writer, orgId, 7)
    clock.advance(7 * DAY_MS)
    return deleteOrganization({ ...remit, clock }, orgId, { reason: 'asked in writing' })
  }

  it('every table says whose its rows are', async () => {
    const owned = new Set((await organizationTables(remit.db)).map(({ name }) => name))
    const tables = new Set((await columnsOf(remit.db, dialect)).map(({ table }) => table))

    expect(owned.size).toBeGreaterThan(40)
    expect([...tables].filter((table) => !owned.has(table) && !SHARED.test(table))).toEqual([])
  })

  it('every table is in the archive or is left out on purpose', async () => {
    const owned = (await organizationTables(remit.db)).map(({ name }) => name)

    const archived = owned.filter((name) => name !== DIRECTORY)
    expect(Object.keys(remit.archive).toSorted()).toEqual(archived.toSorted())
  })

  it('a deletion removes its rows from every table, and no row of another organization', async () => {
    const other = await remit.organization()
    for (const { id } of [api.org, other]) await fillAll(id)
    const tables = await organizationTables(remit.db)
    const counts = (orgId: string) =>
      Promise.all(tables.map(({ name }) => countIn(remit.db, name, 'org_id', orgId)))
    const before = await counts(other.id)

    const { removed } = await leave(api.org.id)

    expect(await counts(api.org.id)).toEqual(tables.map(() => 0))
    expect(Object.keys(removed)).toEqual(
      expect.arrayContaining(
        tables
          .map(({ name }) => name)
          .filter((name) => !['ingest_key', 'console_session'].includes(name)),
      ),
    )
    expect(await countIn(remit.db, 'organization', 'id', api.org.id)).toBe(0)
    expect(await organizationIds(remit.db)).not.toContain(api.org.id)
    expect(await counts(other.id)).toEqual(before)
    expect(before.every((count) => count > 0)).toBe(true)
  })

  it('deletions at the same time write one last entry and keep one end', async () => {
    await suspendOrganization(remit.writer, api.org.id)
    await scheduleDeletion(remit.writer, api.org.id, 0)
    const deletions = await Promise.all(
      Array.from({ length: 4 }, () => deleteOrganization({ ...remit, clock }, api.org.id)),
    )

    const kept = await findDeleted(remit.db, api.org.id)
    expect(deletions.map(({ ledger }) => ledger.entry)).toEqual(deletions.map(() => kept?.entry))
    expect(await countIn(remit.db, 'ledger_entry', 'org_id', api.org.id)).toBe(0)
  })

  it('its last entry and the checkpoint over all entries stay, so that the deletion can be proven', async () => {
    await api.ok('createPolicy', { body: { effect: 'deny', actions: ['x'] } })
    const { ledger } = await leave(api.org.id)

    const kept = await findDeleted(remit.db, api.org.id)
    const { origin, size, entry: line, checkpoint: note } = ledger
    expect(kept).toMatchObject({ id: api.org.id, origin, size, entry: line, note })
    const entry = JSON.parse(ledger.entry) as { seq: number; kind: string; payload: string }
    expect(entry).toMatchObject({ seq: ledger.size - 1, kind: 'organization.deleted' })
    expect(JSON.parse(entry.payload)).toMatchObject({
      data: { organization_id: api.org.id, reason: 'asked in writing' },
    })
    const { vkey } = createLedgerSigner(remit.signingKey).forOrigin(origin)
    const checkpoint = openCheckpoint(note, parseVerifierKey(vkey), origin)
    expect(checkpoint.size).toBe(size)
  })

  it('the archive has every row that is not a secret, a cache or computed', async () => {
    await api.ok('createWebhook', {
      body: { url: 'https://hooks.example.com/x', events: ['approval.requested'] },
    })
    const { hash } = await remit.db
      .selectFrom('ingest_key')
      .select('hash')
      .where('org_id', '=', api.org.id)
      .executeTakeFirstOrThrow()
    await fillAll(api.org.id)
    const at = { now: START, version: '0.0.0-test' }
    let text = ''
    for await (const part of exportConfiguration(remit.db, remit.archive, api.org.id, at))
      text += part
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly table?: string; readonly row?: object })

    const whole = Object.entries(remit.archive).filter(([, rule]) => rule !== 'none')
    expect([...new Set(lines.flatMap(({ table }) => table ?? []))].toSorted()).toEqual(
      whole.map(([name]) => name).toSorted(),
    )
    expect(text).toContain('hooks.example.com')
    expect(text).not.toContain(hash)
    const names = new Set(lines.flatMap(({ row = {} }) => Object.keys(row)))
    expect([...names].filter((name) => /^(?:secret|hash|body|payload|cookie)$/.test(name))).toEqual(
      [],
    )
  })

  it('keys end with it on every process, and nothing more is written', async () => {
    const second = await createTestRemit({
      url: remit.url,
      signingKey: remit.signingKey,
      clock,
      modules: await loadModules(),
    })
    const elsewhere = apiOf(second, api.org)
    const body = { agent_id: 'a', action: 'a.b' }
    await api.ok('authorize', { body })
    await elsewhere.ok('authorize', { body })
    await leave(api.org.id)

    for (const one of [api, elsewhere])
      for (const name of ['authorize', 'listEntries'] as const)
        expect((await one.refusal(name, name === 'authorize' ? { body } : {})).code).toBe(
          'unauthorized',
        )
    const entry = handMade({ kind: 'ledger.heartbeat', actor: SYSTEM, data: {} })
    const write = () =>
      remit.writer.work(api.org.id, OPERATOR, () =>
        Promise.resolve({ entries: [entry], reply: () => undefined }),
      )
    await expect(write()).rejects.toThrow('The organization was deleted')
    await second.close()
  })

  it('nothing is written between the last entry and the removal of the rows', async () => {
    await suspendOrganization(remit.writer, api.org.id)
    await remit.db
      .updateTable('organization')
      .set({ deleted_at: START })
      .where('id', '=', api.org.id)
      .execute()
    // Another change lets every process read the organization again.
    await remit.db
      .updateTable('ledger_head')
      .set((head) => ({ config_version: head('config_version', '+', 1) }))
      .where('org_id', '=', api.org.id)
      .execute()

    await expect(
      remit.writer.work(api.org.id, OPERATOR, () =>
        Promise.resolve({ entries: [], reply: () => undefined }),
      ),
    ).rejects.toThrow('The organization was deleted')
  })

  it('an interrupted deletion is continued', async () => {
    await suspendOrganization(remit.writer, api.org.id)
    await scheduleDeletion(remit.writer, api.org.id, 0)
    const broken = { ...remit, clock }
    // The last entry is written, and the process ends.
    const db = new Proxy(remit.db, {
      get(target, name) {
        if (name === 'transaction') throw new Error('ended')
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    await expect(deleteOrganization({ ...broken, db }, api.org.id)).rejects.toThrow('ended')
    const { ledger } = await deleteOrganization(broken, api.org.id)

    expect(JSON.parse(ledger.entry)).toMatchObject({ kind: 'organization.deleted' })
    expect(await countIn(remit.db, 'ledger_entry', 'org_id', api.org.id)).toBe(0)
    const again = await deleteOrganization(broken, api.org.id)
    expect(again).toMatchObject({ ledger, removed: {} })
  })

  /** Lets every deletion of a count of judge calls write it again, up to a number of times. */
  async function writeAgain(times: number): Promise<() => Promise<void>> {
    const again = `insert into judge_day (org_id, day, calls, cost_micro)
      values (old.org_id, old.day, old.calls + 1, old.cost_micro)`
    const statements =
      dialect === 'postgres'
        ? [
            `create function write_again() returns trigger language plpgsql as
              $$ begin ${again}; return null; end $$`,
            `create trigger late after delete on judge_day
              for each row when (old.calls < ${times}) execute function write_again()`,
          ]
        : [
            `create trigger late after delete on judge_day when old.calls < ${times}
              begin ${again}; end`,
          ]
    for (const statement of statements) await sql.raw(statement).execute(remit.db)
    const row = { org_id: api.org.id, day: '2026-11-20', calls: 0, cost_micro: 0 }
    await on<{ judge_day: typeof row }>(remit.db).insertInto('judge_day').values(row).execute()
    return async () => {
      const drop =
        dialect === 'postgres' ? 'drop function write_again cascade' : 'drop trigger late'
      await sql.raw(drop).execute(remit.db)
    }
  }

  // Citus has no triggers on tables of a cluster.
  it.skipIf(citusNodes().length > 0)(
    'rows that are written meanwhile are removed too; after twenty passes it is refused, and repeated',
    async () => {
      const stop = await writeAgain(5)
      expect((await leave(api.org.id)).removed).toMatchObject({ judge_day: 6 })
      await stop()

      api = apiOf(remit, await remit.organization())
      const stopLater = await writeAgain(1000)
      await expect(leave(api.org.id)).rejects.toMatchObject({ code: 'overloaded' })
      const { rows } = await sql<{ calls: number }>`select calls from judge_day
        where org_id = ${api.org.id}`.execute(remit.db)
      expect(rows).toEqual([{ calls: 21 }])
      // Its name stays in use, and the id continues the deletion.
      expect(await countIn(remit.db, 'organization', 'id', api.org.id)).toBe(1)
      await stopLater()
      const { removed } = await deleteOrganization({ ...remit, clock }, api.org.id)
      expect(removed).toEqual({ judge_day: 1, organization: 1 })
    },
  )

  it('only a suspended organization is deleted, and only after the days', async () => {
    const remove = () => deleteOrganization({ ...remit, clock }, api.org.id)
    await expect(scheduleDeletion(remit.writer, api.org.id, 7)).rejects.toThrow('must be suspended')
    await expect(remove()).rejects.toThrow('must be suspended')
    await suspendOrganization(remit.writer, api.org.id)
    await expect(remove()).rejects.toThrow('No deletion of the organization')
    await scheduleDeletion(remit.writer, api.org.id, 7)
    expect(await api.ok('getOrganization')).toMatchObject({
      delete_after: '2026-11-27T08:00:00.000Z',
    })
    clock.advance(7 * DAY_MS - 1)
    await expect(remove()).rejects.toThrow('can be deleted from 2026-11-27T08:00:00.000Z on')
    await api.ok('listEntries')
  })
})

describe.skipIf(!hasModules()).each(DIALECTS)('remit org export and delete on %s', (dialect) => {
  let installation: Installation
  beforeEach(async () => {
    installation = await createInstallation(dialect)
  })
  afterEach(() => installation.remove())

  it('the archive is complete, verifies with remit-verify, and has no secret', async () => {
    const { env, folder } = installation
    const { organization, key } = await createOrg(env, 'acme')
    const out = join(folder, 'archive')
    const { vkey } = await cliJson<{ vkey: string }>(['org', 'export', 'acme', '--out', out], env)
    const textOf = (file: string) => readFileSync(join(out, file), 'utf8')
    for (const line of textOf('SHA256SUMS').trimEnd().split('\n')) {
      const [sum = '', file = ''] = line.split('  ')
      expect(createHash('sha256').update(textOf(file)).digest('hex')).toBe(sum)
    }
    const lines = textOf('configuration.ndjson')
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, unknown>)
    expect(lines[0]).toMatchObject({ type: 'header', organization: { id: organization.id } })
    expect(lines.at(-1)).toEqual({ type: 'end', rows: lines.length - 2 })
    expect(lines).toContainEqual({
      type: 'row',
      table: 'ingest_key',
      row: expect.objectContaining({ id: key.id, role: 'admin' }),
    })
    const main = resolve(import.meta.dirname, '../../verify/src/main.ts')
    const args = [main, join(out, 'ledger.ndjson'), '--vkey', vkey]
    await promisify(execFile)(process.execPath, args)
    expect((await cli(['org', 'export', 'acme', '--out', out], env)).stderr).toContain(
      'already exists',
    )
  })

  it('delete asks for the id, and removes what it names', async () => {
    const { env } = installation
    const {
      organization: { id },
    } = await createOrg(env, 'acme')
    expect(await cli(['org', 'delete', 'acme'], env)).toMatchObject({
      code: 1,
      stderr: 'remit: The organization acme must be suspended first\n',
    })
    await cliJson(['org', 'suspend', 'acme'], env)
    const scheduled = await cli(['org', 'delete', 'acme', '--days', '0'], env)
    expect(scheduled.stdout).toContain('Nothing was removed.')
    expect(await cli(['org', 'delete', 'acme', '--confirm', 'acme'], env)).toMatchObject({
      code: 2,
      stderr: `remit: --confirm must be the id of the organization, ${id}; given: acme\n`,
    })
    const { deletion } = await cliJson<{ deletion: { ledger: { size: number } } }>(
      ['org', 'delete', 'acme', '--confirm', id],
      env,
    )
    expect(deletion.ledger.size).toBe(6)
    expect((await cli(['org', 'list', '--json'], env)).stdout).toContain('"organizations":[]')
    // Again, after an interruption.
    await cliJson(['org', 'delete', id, '--confirm', id], env)
    await createOrg(env, 'acme')
  })
})
