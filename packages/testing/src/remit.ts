import { createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Plan, Role } from '@remit/contract'
import { pino } from 'pino'
import type { Logger } from 'pino'
import { systemClock, randomIds } from '@remit/core/base'
import type { Clock } from '@remit/core/base'
import { openDatabase, postgresSignals } from '@remit/core/db/open'
import type { Database } from '@remit/core/db/open'
import type { Dialect, CoreTables } from '@remit/core/db'
import type { ConsoleFiles } from '@remit/core/http/console'
import { consolePlace } from '@remit/core/keys'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import type { Module, Settings } from '@remit/core/module'
import type { Outbound } from '@remit/core/net'
import { PLAN_LIMITS } from '@remit/core/orgs/settings'
import { createKey, createOrganization } from '@remit/core/orgs'
import { createSecretBox, SECRETS_KEY_BYTES } from '@remit/core/secrets'
import { createRemit } from '@remit/core/server'
import type { Remit } from '@remit/core/server'
import { createMigratedDatabase } from './databases.ts'
import { entryShapes } from './entry-shapes.ts'

export interface TestRemitOptions {
  readonly dialect?: Dialect
  /** An existing database, for a second process of one installation. */
  readonly url?: string
  readonly modules?: readonly Module[]
  readonly clock?: Clock
  readonly planCeiling?: Plan
  readonly evaluation?: boolean
  readonly hosted?: boolean
  readonly rateLimit?: number
  readonly maxBatch?: number
  readonly corsOrigins?: readonly string[]
  /** False: no sign-in with a key. Sessions have the origin `https://remit.test`. */
  readonly keyLogin?: boolean
  readonly console?: ConsoleFiles
  readonly settings?: Partial<Settings>
  readonly signingKey?: KeyObject
  /** Keys that encrypt stored secrets. Default: the same for all tests of a file. */
  readonly secretsKeys?: readonly KeyObject[]
  readonly log?: Logger
  readonly outbound?: Outbound
  /** The URL leads to a pooler in transaction mode. */
  readonly isPooled?: boolean
  /** Names of operator keys by their hashes. */
  readonly operatorKeys?: ReadonlyMap<string, string>
}

export interface TestOrganization {
  readonly id: string
  /** The text of an admin key. */
  readonly key: string
}

/** The whole product on a real database, without a socket. */
export interface TestRemit extends Remit {
  readonly db: Database<CoreTables>
  readonly url: string
  readonly signingKey: KeyObject
  organization(plan?: Plan): Promise<TestOrganization>
  key(orgId: string, role: Role): Promise<string>
  /** Sends a request as a client does; a `body` that is not text is sent as JSON. */
  call(
    method: string,
    path: string,
    options?: { key?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>
}

const SECRETS_KEY = createSecretKey(randomBytes(SECRETS_KEY_BYTES))

export async function createTestRemit(options: TestRemitOptions = {}): Promise<TestRemit> {
  const created =
    options.url === undefined
      ? await createMigratedDatabase(options.dialect ?? 'sqlite', options.modules)
      : null
  const url = options.url ?? created?.url ?? ''
  // A busy machine must not look like a failed database.
  const db = openDatabase<CoreTables>(url, { connectMs: 30_000, hasSessions: !options.isPooled })
  const signingKey = options.signingKey ?? generateKeyPairSync('ed25519').privateKey
  const clock = options.clock ?? systemClock
  const signer = createLedgerSigner(signingKey)
  const log = options.log ?? pino({ level: 'silent' })
  const base = { db, clock, ids: randomIds, signer, version: '0.0.0-test', log }
  const creation = { ...base, host: 'remit.test' }
  const remit = await createRemit({
    ...base,
    databaseUrl: url,
    // Nor like a request that waits too long.
    requestMs: 600_000,
    // Benchmarks use this too.
    modules: [...(options.modules ?? []), ...(process.env['VITEST'] ? [entryShapes] : [])],
    secrets: createSecretBox(options.secretsKeys ?? [SECRETS_KEY]),
    ...(url.startsWith('postgres') && {
      signals: postgresSignals(url, { onError: () => undefined }),
    }),
    ...(options.outbound && { outbound: options.outbound }),
    settings: {
      edition: options.modules ? 'enterprise' : 'community',
      spendDeadlineMs: 250,
      // No heartbeat among the entries of a test that takes long.
      watchEveryMs: 3_600_000,
      ...options.settings,
    },
    newOrganization: (name, { plan = 'free', ...more } = {}) =>
      createOrganization(creation, name, plan, undefined, {
        ...more,
        limits: { ...PLAN_LIMITS[plan], ...more.limits },
      }),
    ...(options.operatorKeys && { operatorKeys: options.operatorKeys }),
    planCeiling: options.planCeiling ?? 'enterprise',
    evaluation: options.evaluation ?? false,
    hosted: options.hosted ?? false,
    rateLimit: options.rateLimit ?? 0,
    sessions: {
      keyLogin: options.keyLogin ?? true,
      place: () => consolePlace('https://remit.test', 'localhost', 0),
    },
    ...(options.console && { console: options.console }),
    ...(options.corsOrigins && { corsOrigins: options.corsOrigins }),
    ...(options.maxBatch !== undefined && { maxBatch: options.maxBatch }),
  })
  let count = 0
  return {
    ...remit,
    db,
    url,
    signingKey,
    async organization(plan = 'enterprise') {
      const { organization, key } = await createOrganization(
        creation,
        `org ${++count} ${randomIds.next('', Date.now())}`,
        plan,
      )
      return { id: organization.id, key: key.secret }
    },
    key: async (orgId, role) => (await createKey(remit.writer, orgId, { role })).secret,
    async call(method, path, { key, body, headers } = {}) {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return remit.app.request(path, {
        method,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: text }),
      })
    },
    async close() {
      await remit.close()
      await created?.drop()
    },
  }
}
