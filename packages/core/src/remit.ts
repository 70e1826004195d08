import type { Plan } from '@remit/contract'
import type { Hono } from 'hono'
import type { Logger } from 'pino'
import type { Decider } from './authorize/decider.ts'
import type { Clock } from './base/clock.ts'
import type { ArchiveRules } from './db/archived.ts'
import type { NearNodes } from './db/near-nodes.ts'
import type { MigrationSet } from './db/migration-set.ts'
import type { Database } from './db/open.ts'
import type { CoreTables } from './db/schema.ts'
import type { Signals } from './db/signals.ts'
import type { PublicPage } from './http/app.ts'
import type { LicensePeriod } from './http/session-routes.ts'
import type { Ids } from './base/ids.ts'
import type { LinkedKey } from './sessions/people.ts'
import type { SessionSettings } from './sessions/sessions.ts'
import type { ConsoleFiles } from './http/console.ts'
import type { Eraser } from './ledger/write/eraser.ts'
import type { Ledger } from './ledger/read/ledger.ts'
import type { LedgerSigner } from './ledger/format/note.ts'
import type { Writer } from './ledger/write/writer.ts'
import type { Module, Settings } from './module/module.ts'
import type { Ports } from './module/ports.ts'
import type { Resealed } from './module/stored-secrets.ts'
import type { Outbound } from './net/outbound.ts'
import type { CreateOrganization } from './orgs/organizations.ts'
import type { SecretBox } from './secrets/secret-box.ts'
import type { Metrics } from './telemetry/metrics.ts'
import type { Tracer } from './telemetry/tracing.ts'

export interface RemitOptions {
  readonly db: Database<CoreTables>
  /**
   * Connections for the transactions that write ledgers, so that they do not wait for reads; those of
   * `db` unless given. `close` closes them.
   */
  readonly ledgerDb?: Database<CoreTables>
  /** URL of `db`. Without it, or for a database in memory, all reads use `db`. */
  readonly databaseUrl?: string
  readonly modules: readonly Module[]
  readonly signer: LedgerSigner
  readonly secrets: SecretBox
  readonly clock: Clock
  readonly ids: Ids
  /** Nodes of a cluster on which decisions are written; `close` closes them. */
  readonly nodes?: NearNodes
  /** Signals between the processes of the installation; without them, this one is alone. */
  readonly signals?: Signals
  /** Brings the tables up to date, where `db` itself cannot; returns the migrations that ran. */
  readonly migrate?: (sets: readonly MigrationSet[]) => Promise<string[]>
  /** Without it, only the public internet can be reached. */
  readonly outbound?: Outbound
  /** Records operations; none unless given. */
  readonly tracer?: Tracer | null
  readonly log: Logger
  readonly settings: Settings
  readonly version: string
  /** The license's plan: no organization has more. */
  readonly planCeiling: Plan
  readonly evaluation: boolean
  /** The license of this start; none for evaluation and the community edition. */
  readonly license?: LicensePeriod | null
  /** Organizations belong to customers of the operator, who do not see the license. */
  readonly hosted?: boolean
  /** Requests a second per key; 0 = no limit. */
  readonly rateLimit: number
  /** Wrong keys a minute per address before the answer is 429; 0 = no limit. 60 unless given. */
  readonly failedKeyLimit?: number
  /** Origins whose pages may call the API from a browser. */
  readonly corsOrigins?: readonly string[]
  /** Pages outside of `/v1`, served without a key. */
  readonly pages?: readonly PublicPage[]
  /** Sign-in to the console; nobody can unless given. */
  readonly sessions?: SessionSettings
  /** The web application at `/console`; none unless given. */
  readonly console?: ConsoleFiles
  /** Pieces of work in one transaction at most. */
  readonly maxBatch?: number
  /**
   * Maximum milliseconds of a request whose endpoint has no limit of its own (default 30,000), and of its wait
   * for a commit (default 20,000).
   */
  readonly requestMs?: number
  /** `/metrics` goes to an app of its own, for another port. */
  readonly metricsApart?: boolean
  /** Warnings to the operator, for `/ready`; read at each request. */
  readonly warnings?: () => readonly string[]
  /** Creates organizations; without it, nobody can over HTTP. */
  readonly newOrganization?: CreateOrganization
  /** Names of the keys of operators, by their hashes; without any, operators have no API. */
  readonly operatorKeys?: ReadonlyMap<string, string>
  /** `false` disables the background work of modules: for a process that does one thing and ends. */
  readonly background?: boolean
}

/** The running product without its socket. */
export interface Remit {
  readonly app: Hono
  /** Serves `/metrics` only. */
  readonly metricsApp: Hono
  readonly metrics: Pick<Metrics, 'families'>
  readonly writer: Writer
  readonly ledger: Ledger
  readonly decider: Decider
  readonly ports: Partial<Ports>
  /** The columns of all modules' tables that the archive of an organization contains. */
  readonly archive: ArchiveRules
  /** Callbacks of modules for erased payloads. */
  readonly erasers: readonly Eraser[]
  /** Migrations that ran at this start, as `module/name`. */
  readonly migrated: readonly string[]
  /** Returns the path of a page that signs in with this key: once, for ten minutes. */
  loginPath(key: LinkedKey): string
  /** Returns warnings about organizations that allow by default, at most a minute old. */
  openDefaults(): Promise<readonly string[]>
  /** Encrypts stored secrets that are in plain text or under an older key. */
  reseal(): Promise<Resealed>
  /** Ends what waits for something to happen, so that a server that stops need not wait for it. */
  release(): void
  /** Refuses new work, finishes what is queued, closes modules and database. */
  close(): Promise<void>
}
