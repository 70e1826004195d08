import type { KeyObject } from 'node:crypto'
import type { Migration } from 'kysely/migration'
import type { Logger } from 'pino'
import type { Stage } from '../authorize/stage.ts'
import type { Slot } from '../authorize/slots.ts'
import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import type { Signals } from '../db/signals.ts'
import type { Ids } from '../base/ids.ts'
import type { GuardChecks } from '../guard/checked.ts'
import type { SecondModel } from '../guard/second-opinion.ts'
import type { Eraser } from '../ledger/write/eraser.ts'
import type { Ledger } from '../ledger/read/ledger.ts'
import type { EntryObserver } from '../ledger/write/work.ts'
import type { Writer } from '../ledger/write/writer.ts'
import type { Outbound } from '../net/outbound.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import type { ScorerRuns } from '../scorers/finished.ts'
import type { Scorer } from '../scorers/scorer.ts'
import type { Decider } from '../authorize/decider.ts'
import type { Route } from '../http/implement.ts'
import type { Ports } from './ports.ts'

/** An installable part of the server. A package's default export is one of these. */
export interface Module {
  /** Log field and name of its migration table. */
  readonly name: string
  readonly requires?: readonly (keyof Ports)[]
  readonly migrations?: Readonly<Record<string, Migration>>
  /** Wiring only, no I/O. */
  setup(deps: Deps): Contribution
}

/** What a module adds to the server. */
export interface Contribution {
  readonly routes?: readonly Route[]
  /** At most one module fills a slot. */
  readonly stages?: { readonly [S in Slot]?: Stage }
  readonly scorers?: readonly Scorer[]
  /** Told of every run of a scorer. */
  readonly scorerRuns?: ScorerRuns
  /** Told of every check of the guard. */
  readonly guardChecks?: GuardChecks
  /** Told of every entry in the transaction that writes it. */
  readonly observers?: readonly EntryObserver[]
  /** Clear the module's copies of what entries say whose payloads are erased. */
  readonly erasers?: readonly Eraser[]
  readonly provides?: Partial<Ports>
  /** Encrypts what is stored in plain text or under an older key; resolves to how much that was. */
  readonly reseal?: () => Promise<Resealed>
  /** Begins what runs beside the requests (deliveries, expiry); after migrations, once. */
  readonly start?: () => void
  /** Records what was only counted so far; after the last request, while the writer still takes work. */
  readonly settle?: () => Promise<void>
  readonly close?: () => Promise<void>
}

/** Stored secrets after `reseal`. */
export interface Resealed {
  /** Encrypted under the current key by this call. */
  readonly resealed: number
  /** Under a key that is not there, or changed: left as they are. */
  readonly unreadable: number
}

/** What a module gets to work with. */
export interface Deps {
  readonly db: Database<CoreTables>
  /** Where `db` is, for threads that open it for themselves; null where nobody else can. */
  readonly databaseUrl: string | null
  readonly ledger: Ledger
  readonly writer: Writer
  readonly decider: Decider
  /** The verifier key of the server's own signing key for a ledger's origin: known from outside the database. */
  readonly verifierKey: (origin: string) => string
  readonly clock: Clock
  readonly ids: Ids
  readonly signals: Signals
  /** For every secret that a module stores. */
  readonly secrets: SecretBox
  /** The way to addresses that others chose. */
  readonly outbound: Outbound
  readonly log: Logger
  /** Modules are loaded without a licence, to try them: what is handed on says so. */
  readonly evaluation: boolean
  readonly settings: Settings
  /** Offers of other modules; only after every `setup` has run. */
  port<K extends keyof Ports>(name: K): Ports[K]
  /** The same where another module need not be there. */
  readonly offered: <K extends keyof Ports>(name: K) => Ports[K] | undefined
}

/** Settings of the process that modules read. */
export interface Settings {
  readonly edition: 'community' | 'enterprise'
  /** Address under which clients reach the server. */
  readonly baseUrl?: string
  readonly spendUrl?: string
  readonly spendDeadlineMs: number
  readonly judges?: JudgesSource
  /** A bigger model that the guard asks too. */
  readonly guardModel?: Omit<SecondModel, 'onFailure'>
  /** Keys that go into the hashes of agent credentials; the first makes new ones. */
  readonly credentialPeppers?: readonly KeyObject[]
  /** Folder outside the database where signed checkpoints are kept. */
  readonly checkpointDir?: string
  /** Milliseconds between two looks of the watch over the ledgers. */
  readonly watchEveryMs?: number
}

/** The text of the operator's file of judges, and the environment that it refers to for keys. */
export interface JudgesSource {
  readonly text: string
  variable(name: string): string | undefined
}

/** Keeps the literal type of a module's definition. */
export const defineModule = (module: Module): Module => module
