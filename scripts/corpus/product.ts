/** The only file of the corpus that imports the product. */
import { createPrivateKey, createSecretKey } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { openDatabase } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import { createOutbound } from '@remit/core/net'
import { createOrganization } from '@remit/core/orgs'
import { createSecretBox } from '@remit/core/secrets'
import { createRemit, operatorKeyLine } from '@remit/core/server'
import type { Remit, RemitOptions } from '@remit/core/server'
import { createMigratedDatabase, prune, startPostgres } from '@remit/testing'
import type { TestClock, TestRemit } from '@remit/testing'
import { listen } from '../../apps/server/src/boot/listen.ts'
import { loadModules } from '../../apps/server/src/boot/modules.ts'

export { startPostgres }

export type Plan = 'free' | 'team' | 'enterprise'
export const DIALECTS = ['sqlite', 'postgres'] as const
export type Dialect = (typeof DIALECTS)[number]

export interface Installation extends Pick<RemitOptions, 'clock' | 'ids'> {
  readonly spendUrl?: string
  readonly maxBatch?: number
  readonly operatorKey?: string
}

type Authorize = Parameters<Remit['decider']['authorize']>

/** The whole product on an empty database, with a socket. */
export async function startProduct(dialect: Dialect, installation: Installation) {
  const { clock, ids, spendUrl, maxBatch, operatorKey } = installation
  const modules = await loadModules()
  const database = await createMigratedDatabase(dialect, modules)
  // One connection, as SQLite has it: statements of one moment have an order.
  const options = { connectMs: 30_000, hasSessions: true, poolSize: 1 }
  const db = openDatabase<CoreTables>(database.url, options)
  const der = Buffer.from(`302e020100300506032b657004220420${'7a'.repeat(32)}`, 'hex')
  const signingKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const signer = createLedgerSigner(signingKey)
  const log = pino({ level: 'silent' })
  const base = { db, clock, ids, signer, version: '0.0.0-corpus', log }
  const create = (name: string, plan: Plan = 'free', more = {}) =>
    createOrganization({ ...base, host: 'remit.test' }, name, plan, undefined, more)
  const operators =
    operatorKey === undefined ? [] : [operatorKeyLine('ada', operatorKey).split(' ')]
  const remit = await createRemit({
    ...base,
    databaseUrl: database.url,
    modules,
    secrets: createSecretBox([createSecretKey(Buffer.alloc(32, 7))]),
    outbound: createOutbound({ allowLoopback: true, resolve: () => Promise.resolve([]) }),
    settings: {
      edition: 'enterprise',
      baseUrl: 'https://remit.test',
      spendDeadlineMs: 2_000,
      ...(spendUrl !== undefined && { spendUrl }),
    },
    newOrganization: (name, { plan, ...more } = {}) => create(name, plan, more),
    operatorKeys: new Map(operators.map(([name = '', hash = '']) => [hash, name])),
    planCeiling: 'enterprise',
    evaluation: false,
    hosted: operatorKey !== undefined,
    rateLimit: 0,
    ...(maxBatch !== undefined && { maxBatch }),
    background: false,
  })
  const server = await listen(remit.app, { host: '127.0.0.1', port: 0 })
  const tables = await db.introspection.getTables()
  return {
    url: server.url,
    async organization(name: string, plan: Plan) {
      const { organization, key } = await create(name, plan)
      return { id: organization.id, keyId: key.id, key: key.secret }
    },
    /** Decides all requests in one turn of the event loop. */
    decideTogether: (caller: Authorize[1]['caller'], bodies: readonly unknown[]) =>
      Promise.allSettled(
        bodies.map((body) =>
          remit.decider.authorize(body as Authorize[0], { caller, claim: null, wantsNote: false }),
        ),
      ),
    /** Removes the entries of an organization that are older than 400 days. */
    prune: (id: string) =>
      prune({ remit: { ...remit, db, signingKey } as TestRemit, org: { id } }, clock as TestClock),
    tables: tables.map(({ name }) => name).toSorted(),
    rows: (table: string) =>
      db
        .selectFrom(table as keyof CoreTables)
        .selectAll()
        .execute() as Promise<object[]>,
    /** Waits for work that goes on after an answer: it needs the connection before this does. */
    async settled() {
      for (let i = 0; i < 5; i++) {
        await this.run('select 1')
        await setImmediate()
      }
    },
    run: (statement: string) =>
      db.executeQuery({ sql: statement, parameters: [], query: { kind: 'RawNode' } } as never),
    async close() {
      await server.stop()
      await remit.close()
      await database.drop()
    },
  }
}
