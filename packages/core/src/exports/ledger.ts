/**
 * A tamper-evident ledger without a server, on SQLite or PostgreSQL. The database is one that a
 * Remit server can open too.
 *
 * @module
 */
import { pino } from 'pino'
import type { Logger } from 'pino'
import { systemClock } from '../base/clock.ts'
import { randomIds } from '../base/ids.ts'
import { SYSTEM } from '../caller/caller.ts'
import { coreMigrations } from '../db/core-migrations.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { localSignals } from '../db/signals.ts'
import type { Draft, EntryDraft } from '../ledger/format/draft.ts'
import { createLedgerSigner, loadLedgerKey } from '../ledger/format/note.ts'
import { Ledger } from '../ledger/read/ledger.ts'
import { verifyDatabase } from '../ledger/verify/database.ts'
import type { VerifyDatabaseOptions } from '../ledger/verify/database.ts'
import type { VerifyReport } from '../ledger/verify/database-report.ts'
import { firstOf, lane } from '../ledger/write/work.ts'
import type { LinkedEntry } from '../ledger/format/link.ts'
import { Writer } from '../ledger/write/writer.ts'
import { OPERATOR } from '../orgs/administration.ts'
import { createOrganization, findOrganization } from '../orgs/organizations.ts'

export { Failure } from '../base/errors.ts'
export { verifyExport } from '../ledger/verify/export.ts'
export type { Draft as EntryDraft, LinkedEntry, VerifyDatabaseOptions, VerifyReport }

export interface OpenLedgerOptions {
  /** `sqlite:<path>` or `postgres://…`; missing tables are created. */
  readonly database: string
  /** A PEM file with the Ed25519 key that signs checkpoints. It is created if it is missing. */
  readonly keyFile: string
  /** Name of the organization whose ledger it is; `default` unless given. It is created if it is missing. */
  readonly organization?: string
  /** Host part of the origin of a new ledger; `localhost` unless given. */
  readonly host?: string
  /** Nothing is logged unless given. */
  readonly log?: Logger
}

/** An entry to append; the actor is the system unless given. */
export type NewEntry = Omit<Draft, 'actor'> & Partial<Pick<Draft, 'actor'>>

/** One organization's ledger. */
export interface OpenLedger {
  /** Reads entries, proofs and checkpoints; its methods take the id of the organization. */
  readonly ledger: Ledger
  readonly orgId: string
  /** Resolves when the entry is durable. Calls that overlap share a transaction. */
  append(entry: NewEntry): Promise<LinkedEntry>
  /** The newest signed checkpoint (C2SP tlog-checkpoint). Keep it outside the database. */
  checkpoint(): Promise<string>
  /** Verifies every entry against the signing key; see `verifyDatabase` for the options. */
  verify(options?: VerifyDatabaseOptions): Promise<VerifyReport>
  /** Waits for appends under way and closes the database. */
  close(): Promise<void>
}

/** Appends as they are: a ledger of its own has kinds of its own. */
const appending = lane<Draft, LinkedEntry>('append', (works) =>
  Promise.resolve({
    outcomes: works.map(({ job }) => ({ entries: [job as EntryDraft], reply: firstOf })),
  }),
)

/**
 * Opens a ledger to append to and to verify.
 *
 * @example
 * import { openLedger } from '@remit/core/ledger'
 *
 * const ledger = await openLedger({ database: 'sqlite:audit.db', keyFile: 'audit.key' })
 * await ledger.append({ kind: 'invoice.paid', data: { invoice: 4711 } })
 * const { status } = await ledger.verify() // 'ok'
 * await ledger.close()
 */
export async function openLedger({
  database,
  keyFile,
  organization: name = 'default',
  host = 'localhost',
  log = pino({ level: 'silent' }),
}: OpenLedgerOptions): Promise<OpenLedger> {
  const signer = createLedgerSigner(loadLedgerKey(keyFile, true))
  const db = openDatabase<CoreTables>(database)
  await migrate(db, [{ name: 'core', migrations: coreMigrations }])
  const creation = { db, clock: systemClock, ids: randomIds, signer, host, version: 'library', log }
  const { id: orgId } =
    (await findOrganization(db, name)) ??
    (await createOrganization(creation, name, 'free')).organization
  const authenticator = { recheck: () => Promise.resolve(new Map()) }
  const writer = new Writer({
    db,
    clock: systemClock,
    signer,
    log,
    signals: localSignals(),
    authenticator,
  })
  const ledger = new Ledger(db)
  return {
    ledger,
    orgId,
    append: (entry) => writer.submit(appending, orgId, { actor: SYSTEM, ...entry }, OPERATOR),
    checkpoint: async () => (await ledger.head(orgId)).note,
    async verify(options) {
      const origin = await ledger.origin(orgId)
      const vkeys = origin === null ? [] : [signer.forOrigin(origin).vkey]
      return verifyDatabase(db, orgId, { vkeys, ...options })
    },
    async close() {
      await writer.drain()
      await db.destroy()
    },
  }
}
