import { createSecretKey, generateKeyPairSync, randomBytes, hash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Plan, Role } from '@remit/contract'
import { pino } from 'pino'
import type { Logger } from 'pino'
import { systemClock, randomIds } from '@remit/core/base'
import type { Clock } from '@remit/core/base'
import { postgresSignals } from '@remit/core/db/open'
import type { Database } from '@remit/core/db/open'
import type { Dialect, CoreTables } from '@remit/core/db'
import type { ConsoleFiles } from '@remit/core/http/console'
import { consolePlace } from '@remit/core/keys'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import { defineModule } from '@remit/core/module'
import type { Module, Settings } from '@remit/core/module'
import type { Outbound } from '@remit/core/net'
import { PLAN_LIMITS } from '@remit/core/orgs/settings'
import { createKey, createOrganization, pruneLedger } from '@remit/core/orgs'
import type { Pruned, PruneUpTo } from '@remit/core/orgs'
import { createSecretBox, SECRETS_KEY_BYTES } from '@remit/core/secrets'
import { createRemit } from '@remit/core/server'
import type { Remit } from '@remit/core/server'
import { createMigratedDatabase, openPatiently } from './databases.ts'
import { Readable } from 'node:stream'
import type { TestClock } from './clock.ts'
import { rowOf } from '@remit/contract/entries'
import type { Draft, EntryDraft, EntryObserver } from '@remit/core/ledger/lanes'

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
  readonly failedKeyLimit?: number
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
  const db = openPatiently<CoreTables>(url, { hasSessions: !options.isPooled })
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
    ...(options.failedKeyLimit !== undefined && { failedKeyLimit: options.failedKeyLimit }),
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

/** Prunes entries older than 400 days by default; the archive is in memory. */
export async function prune(
  { remit, org }: { readonly remit: TestRemit; readonly org: Pick<TestOrganization, 'id'> },
  clock: TestClock,
  upTo: PruneUpTo = { keepDays: 400 },
): Promise<Pruned> {
  let text = ''
  const archive = {
    async write(parts: AsyncIterable<string>) {
      for await (const part of parts) text += part
      return hash('sha256', text, 'hex')
    },
    read: () => Readable.from([Buffer.from(text)]),
  }
  const signer = createLedgerSigner(remit.signingKey)
  const pruned = await pruneLedger({ ...remit, clock, signer }, org.id, {
    upTo,
    acknowledgeShortRetention: true,
    archive,
    reason: 'retention',
  })
  if (!pruned) throw new Error('nothing to prune')
  return pruned
}

/** The data of entries that tests wrote by hand. */
const HAND_MADE = new WeakSet<object>()

/** An entry that no server of this version writes: of any kind, with any data. */
export function handMade(draft: Draft): EntryDraft {
  HAND_MADE.add(draft.data)
  return draft as EntryDraft
}

/** Fails a transaction, and the run of the tests, for an entry that the catalogue describes otherwise. */
const observer: EntryObserver = {
  observe(entries) {
    const faults = entries.flatMap(faultsOf)
    if (faults.length === 0) return Promise.resolve()
    const error = new TypeError(`The catalogue of entries differs: ${faults.join('; ')}`)
    // The writer answers with 503; the reason must not be lost.
    queueMicrotask(() => {
      throw error
    })
    return Promise.reject(error)
  },
}

type Observed = Parameters<EntryObserver['observe']>[0][number]

/** Returns what differs between an entry of the server and its row of the catalogue. */
function faultsOf({ row: { kind }, content }: Observed): string[] {
  if (HAND_MADE.has(content.data)) return []
  const known = rowOf(kind)
  if (!known) return [`${kind} is not in it`]
  const { error } = known.data.safeParse(content.data)
  const faults = (error?.issues ?? []).map(
    ({ path, message }) => `${kind} data.${path.join('.')}: ${message}`,
  )
  const isOfAgent = content.agent_id !== null
  const { agent } = known
  if (agent !== 'sometimes' && isOfAgent !== (agent === 'always'))
    faults.push(`${kind} has ${agent} an agent, but ${content.agent_id}`)
  return faults
}

/** Compares every entry of a test with the catalogue. */
export const entryShapes: Module = defineModule({
  name: 'entry-shapes',
  migrations: {},
  setup: () => ({ observers: [observer] }),
})
