import type { KeyObject } from 'node:crypto'
import type { PersonRole, Plan } from '@remit/contract'
import type { Migration } from 'kysely/migration'
import type { Logger } from 'pino'
import type { Slot, Stage } from '../authorize/stage.ts'
import type { Clock } from '../base/clock.ts'
import type { ArchiveRules } from '../db/archived.ts'
import type { Placements } from '../db/distributed.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import type { Signals } from '../db/signals.ts'
import type { Ids } from '../base/ids.ts'
import type { GuardChecks } from '../guard/checked.ts'
import type { ExternalModel } from '../guard/external-model.ts'
import type { Eraser } from '../ledger/write/eraser.ts'
import type { Ledger } from '../ledger/read/ledger.ts'
import type { ChangeObserver, EntryObserver } from '../ledger/write/work.ts'
import type { Writer } from '../ledger/write/writer.ts'
import type { Outbound } from '../net/outbound.ts'
import type { Bucket } from '../net/s3.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Computer } from '../threads/pool.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import type { ScorerRuns } from '../scorers/run.ts'
import type { Scorer } from '../scorers/scorer.ts'
import type { Decider } from '../authorize/decider.ts'
import type { ConsolePage } from '../http/console.ts'
import type { Route } from '../http/endpoint.ts'
import type { Witness } from '../kms/witness.ts'
import type { CreateOrganization } from '../orgs/organizations.ts'
import type { DocumentKind } from './documents.ts'
import type { Ports } from './ports.ts'
import type { StoredSecrets } from './stored-secrets.ts'

/** An installable part of the server. A package's default export is one of these. */
export interface Module {
  /** Log field and name of its migration table. */
  readonly name: string
  readonly requires?: readonly (keyof Ports)[]
  readonly migrations?: Readonly<Record<string, Migration>>
  /** The placement of every table of the migrations on a cluster. */
  readonly placements?: Placements
  /** The columns of each of these tables that the archive of an organization contains. */
  readonly archive?: ArchiveRules
  /** Wiring only, no I/O. */
  setup(deps: Deps): Contribution
}

export interface Contribution {
  readonly routes?: readonly Route[]
  /** A slot can be filled by one module only. */
  readonly stages?: { readonly [S in Slot]?: Stage }
  readonly scorers?: readonly Scorer[]
  /** Notified of every run of a scorer. */
  readonly scorerRuns?: ScorerRuns
  /** Notified of every check of the guard. */
  readonly guardChecks?: GuardChecks
  /** Notified of every entry in the transaction that writes it. */
  readonly observers?: readonly EntryObserver[]
  /** Notified of every configuration change; may refuse it, or add entries. */
  readonly changeObservers?: readonly ChangeObserver[]
  /** The kinds of objects that a policy set can contain. */
  readonly documents?: readonly DocumentKind[]
  /** Erase the module's copies of payloads that are erased from entries. */
  readonly erasers?: readonly Eraser[]
  readonly provides?: Partial<Ports>
  readonly consolePages?: readonly ConsolePage[]
  /** Secrets that are encrypted again when the key changes. */
  readonly storedSecrets?: readonly StoredSecrets[]
  /**
   * Rejects with `SettingError` if a server must not serve this database. Called before `start`, not
   * for commands.
   */
  readonly check?: () => Promise<void>
  /** Starts background work (deliveries, expiry). Called once, after the migrations. */
  readonly start?: () => void
  /** Records pending counts. Called after the last request, while the writer still accepts work. */
  readonly settle?: () => Promise<void>
  readonly close?: () => Promise<void>
}

/** Dependencies of a module. */
export interface Deps {
  readonly db: Database<CoreTables>
  /**
   * URL of `db`, for threads that open their own connection; null if the database cannot be shared.
   */
  readonly databaseUrl: string | null
  readonly ledger: Ledger
  readonly writer: Writer
  readonly decider: Decider
  /**
   * Returns the verifier key of the server's own signing key for the origin of a ledger: from
   * outside the database.
   */
  readonly verifierKey: (origin: string) => string
  readonly clock: Clock
  readonly ids: Ids
  readonly signals: Signals
  readonly metrics: Metrics
  readonly sessions: Sessions
  /** Encrypts the secrets that a module stores. */
  readonly secrets: SecretBox
  /** Worker threads for heavy computations. */
  readonly computer: Computer
  /** HTTP client for addresses chosen by users. */
  readonly outbound: Outbound
  readonly log: Logger
  /** Modules run without a license, for evaluation; exported documents say so. */
  readonly evaluation: boolean
  /** The plan of the license, which caps the plan of every organization. */
  readonly planCeiling: Plan
  readonly settings: Settings
  /** Creates organizations; null where nobody can over HTTP. */
  readonly newOrganization: CreateOrganization | null
  /** Returns the kinds of documents of all modules; only after every `setup` has run. */
  readonly documents: () => readonly DocumentKind[]
  /** Returns a port of another module; only after every `setup` has run. */
  port<K extends keyof Ports>(name: K): Ports[K]
  /** Returns a port of an optional module. */
  readonly offered: <K extends keyof Ports>(name: K) => Ports[K] | undefined
}

/** Settings of the process that modules read. */
export interface Settings {
  readonly edition: 'community' | 'enterprise'
  /** Public base URL of the server. */
  readonly baseUrl?: string
  readonly spendUrl?: string
  readonly spendDeadlineMs: number
  readonly judges?: JudgesSource
  readonly guardModel?: Omit<ExternalModel, 'onFailure'>
  /** Peppers for the hashes of agent credentials; the first one is used for new hashes. */
  readonly credentialPeppers?: readonly KeyObject[]
  /** Folder for copies of the signed checkpoints, outside the database. */
  readonly checkpointDir?: string
  /** Bucket for more copies of them, which nobody can change. */
  readonly checkpointBucket?: CheckpointBucket
  /** The second signer of those copies. */
  readonly witness?: Witness
  /** Milliseconds between two copies. Default: an hour; with a witness, a minute. */
  readonly witnessEveryMs?: number
  /** The identity provider of people. */
  readonly oidc?: OidcSettings
  /** People without an organization may create one, on the plan `free`; so many an hour. */
  readonly signUpsPerHour?: number
  /** Sinks may be on a private network. */
  readonly sinkPrivateNetwork?: boolean
  /** The billing system that receives usage. */
  readonly usageSink?: UsageSinkSettings
  /** The mail server for messages to people. */
  readonly smtp?: SmtpSettings
  /** Milliseconds between two checks of the ledgers. */
  readonly watchEveryMs?: number
}

/** The object store of copies of checkpoints. */
export interface CheckpointBucket {
  readonly bucket: Bucket
  /** Beginning of all keys; empty or ends with a slash. */
  readonly prefix: string
  /** Days for which nobody can remove a copy; 0 leaves it to the bucket. */
  readonly lockDays: number
}

/** The identity provider that signs people in to the console, and this server as its client. */
export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  /** Null for a public client. */
  readonly clientSecret: string | null
  /** Separated by blanks. */
  readonly scopes: string
  readonly roleClaim: string
  /** Roles by group; null: roles are given by invitation. */
  readonly roleMap: ReadonlyMap<string, PersonRole> | null
  /** Id or name of the only organization to sign in to. */
  readonly organization: string | null
  /** The issuer may be on loopback, with plain HTTP. */
  readonly allowLoopback: boolean
  /** The issuer may be on a private network. */
  readonly allowPrivate: boolean
}

/** A mail server, which the operator chose. */
export interface SmtpSettings {
  /** `smtp://` or `smtps://`, with user and password. */
  readonly url: string
  /** Address of the sender. */
  readonly from: string
}

/** A billing system that receives the usage of organizations. */
export interface UsageSinkSettings {
  readonly type: 'stripe' | 'cloudevents'
  /** Address that takes one event per request. */
  readonly url: string
  /** Bearer token; null for none. */
  readonly key: string | null
  /** Customers of the billing system by organization; null sends the usage of all organizations. */
  readonly customers: ReadonlyMap<string, string> | null
  readonly everyMs: number
  /** The address may be on loopback, with plain HTTP. */
  readonly allowLoopback: boolean
}

/** The operator's judges file, and the environment with its keys. */
export interface JudgesSource {
  readonly text: string
  variable(name: string): string | undefined
}

/** Returns a module definition with its literal type. */
export const defineModule = (module: Module): Module => module
