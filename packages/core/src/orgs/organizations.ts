import { LEAST_RETENTION_DAYS } from '@remit/contract'
import type { OrganizationLimits, OrganizationSettings, Plan, Role } from '@remit/contract'
import type { Logger } from 'pino'
import { isoTime } from '../base/clock.ts'
import type { Clock } from '../base/clock.ts'
import { namedOrganization, recordOrganization } from '../db/directory.ts'
import { isDistributed } from '../db/distributed.ts'
import { makeDurable } from '../db/portable.ts'
import { isConflict, isDatabaseError, unavailable } from '../db/failure.ts'
import type { Db } from '../db/open.ts'
import { writeRows } from '../db/write-rows.ts'
import type { OrganizationRow, LedgerHeadRow } from '../db/schema.ts'
import { fail, invalid } from '../base/errors.ts'
import type { Ids } from '../base/ids.ts'
import { SYSTEM } from '../caller/caller.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import { GENESIS_KIND, newSalt, ZERO_HASH } from '../ledger/format/entry.ts'
import { signCheckpoint } from '../ledger/format/note.ts'
import type { LedgerSigner } from '../ledger/format/note.ts'
import { linkEntries } from '../ledger/format/link.ts'
import { linkedRows } from '../ledger/store/store.ts'
import { generateKey } from '../keys/key-text.ts'
import type { NewKey } from '../keys/key-text.ts'
import { createdEntry } from '../keys/changes.ts'
import { insertKey } from '../keys/store.ts'
import { changeLimits, limitsOf } from '../limits/limits.ts'
import { settingsOf } from './settings.ts'
import { eachPart, inPart, ORGANIZATIONS_AT_ONCE, organizationIds } from '../db/parts.ts'
import { reaches } from '../keys/authenticator.ts'
import { visitAll } from '../base/visit-all.ts'

const PAGE = 500

/** An organization with its count of decisions; null without a ledger. */
export type ListedOrganization = OrganizationRow & {
  readonly [Name in 'decided' | 'decided_month']: LedgerHeadRow[Name] | null
}

interface OrganizationPage {
  readonly rows: readonly ListedOrganization[]
  /** The id to continue after; null on the last page. */
  readonly next: string | null
}

/**
 * Returns a page of organizations, oldest first. On a distributed database each is read from its node:
 * throws if the node of one is lost.
 */
export async function organizationPage(
  db: Db,
  limit: number,
  after = '',
): Promise<OrganizationPage> {
  // One more tells whether a next page exists.
  const ids = await organizationIds(db, { limit: limit + 1, after })
  const shown = ids.slice(0, limit)
  const rows = await read(db, shown)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return {
    // One may have been deleted meanwhile.
    rows: shown.flatMap((id) => byId.get(id) ?? []),
    next: ids.length > limit ? (shown.at(-1) ?? null) : null,
  }
}

/** Returns all organizations, oldest first. */
export async function listOrganizations(db: Db): Promise<OrganizationRow[]> {
  const all: OrganizationRow[] = []
  for (let after: string | null = ''; after !== null;) {
    const page: OrganizationPage = await organizationPage(db, PAGE, after)
    all.push(...page.rows)
    after = page.next
  }
  return all
}

async function read(db: Db, ids: readonly string[]): Promise<ListedOrganization[]> {
  const some = (given: readonly string[]) =>
    db
      .selectFrom('organization')
      .leftJoin('ledger_head', 'ledger_head.org_id', 'organization.id')
      .selectAll('organization')
      .select(['decided', 'decided_month'])
      .where('organization.id', 'in', given)
      .execute()
  if (ids.length === 0) return []
  if (!(await isDistributed(db))) return some(ids)
  const rows: ListedOrganization[] = []
  await visitAll(ids, ORGANIZATIONS_AT_ONCE, async (id) => {
    rows.push(...(await some([id])))
  })
  return rows
}

export interface CreateDeps {
  readonly db: Db
  readonly clock: Clock
  readonly ids: Ids
  readonly signer: LedgerSigner
  /** Host part of the ledger's origin. */
  readonly host: string
  readonly version: string
  readonly log: Logger
}

/** Creates organizations for an operator or a sign-up; the default plan is that of the license. */
export type CreateOrganization = (
  name: string,
  options?: CreateOptions & { readonly plan?: Plan | undefined },
) => Promise<NewOrganization>

export interface NewOrganization {
  readonly organization: OrganizationRow
  readonly key: NewKey & { readonly role: Role }
}

export interface CreateOptions {
  readonly limits?: Readonly<Record<string, unknown>> | undefined
  /** Name of the operator's key that creates it. */
  readonly operator?: string | undefined
  /** Person of the first key. */
  readonly person?: string | null
  /**
   * Writes further rows in the same transaction, and returns their entries. It is called again if
   * PostgreSQL rolled the transaction back.
   */
  readonly begin?: (tx: Db, organization: OrganizationRow) => Promise<EntryDraft[]>
}

/**
 * Creates an organization with its ledger and first admin key, in one transaction, so that a head
 * always exists and entry 0 pins the identity and signing key of the ledger. Throws
 * `organization_exists` if the name is in use, and `ledger_unavailable` if the database fails.
 */
export async function createOrganization(
  deps: CreateDeps,
  name: string,
  plan: Plan,
  key: NewKey = generateKey(),
  { limits = {}, operator, person = null, begin }: CreateOptions = {},
): Promise<NewOrganization> {
  if (!isOrganizationName(name)) throw invalid('name', `must be ${ORGANIZATION_NAME_RULE}`)
  const now = deps.clock.now()
  const created_at = isoTime(now)
  const organization = {
    id: deps.ids.next('org_', now),
    name,
    plan,
    settings: '{}',
    created_at,
    limits: changeLimits('{}', limits),
    suspended_at: null,
    delete_after: null,
    deleted_at: null,
  }
  const role = 'admin'
  await commit(deps, async (tx) => {
    if (await findOrganization(tx, name))
      throw fail('organization_exists', `An organization named ${name} already exists`)
    await tx.insertInto('organization').values(organization).execute()
    await recordOrganization(tx, organization)
    const first = { person, name: 'first key', created_at, revoked_at: null }
    const record = { id: key.id, role, ...first } as const
    await insertKey(tx, { ...record, org_id: organization.id, hash: key.hash, created_by: null })
    await beginLedger(tx, deps, organization, [
      {
        kind: 'organization.created',
        actor: SYSTEM,
        data: { organization: organizationRecord(organization), ...(operator && { operator }) },
      },
      createdEntry(record, null),
      ...((await begin?.(tx, organization)) ?? []),
    ])
  })
  return { organization, key: { ...key, role } }
}

const MAX_ATTEMPTS = 6

/** Runs a transaction that records something, with the errors and repetitions of the writer. */
async function commit({ db, log }: CreateDeps, work: (tx: Db) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    let isDone = false
    try {
      return await db.transaction().execute(async (tx) => {
        await makeDurable(tx)
        await work(tx)
        isDone = true
      })
    } catch (error) {
      if (!isDatabaseError(error)) throw error
      if ((isConflict(error) || isDuplicate(error)) && attempt < MAX_ATTEMPTS) continue
      log.error({ err: error }, 'writing the ledger of a new organization failed')
      throw unavailable(isDone ? 'outcome_unknown' : 'ledger_unavailable')
    }
  }
}

/** SQLSTATE `unique_violation`: another transaction has just taken the name. */
const isDuplicate = (error: unknown): boolean => (error as { code?: unknown }).code === '23505'

async function beginLedger(
  tx: Db,
  deps: CreateDeps,
  organization: OrganizationRow,
  entries: readonly EntryDraft[],
): Promise<void> {
  const { id: org_id, created_at } = organization
  const ledger_id = deps.ids.next('led_', Date.parse(created_at))
  const origin = `${deps.host}/ledger/${org_id}/${ledger_id}`
  const signer = deps.signer.forOrigin(origin)
  const head = {
    org_id,
    size: 0,
    hash: ZERO_HASH,
    recorded_at: created_at,
    frontier: '',
    note: '',
    origin,
    vkey: signer.vkey,
    config_version: 0,
    decided_month: '',
    decided: 0,
  }
  await tx.insertInto('ledger_head').values(head).execute()
  const genesis: EntryDraft = {
    kind: GENESIS_KIND,
    actor: SYSTEM,
    data: {
      created_at,
      format: 'ledger-entry/v1',
      ledger_id,
      org_id,
      origin,
      server_version: deps.version,
      vkey: signer.vkey,
    },
  }
  const linked = linkEntries(head, [genesis, ...entries], created_at, newSalt)
  const note = signCheckpoint(signer, { origin, size: linked.size, root: linked.root })
  await writeRows(tx, linkedRows(head, linked, created_at, note, 1))
}

/** The rule of `isOrganizationName`, for messages: "must be …". */
export const ORGANIZATION_NAME_RULE =
  '1 to 128 printable characters without outer blanks, not beginning with org_'

/** Names are used in place of ids, so they must not look like one. */
export const isOrganizationName = (name: string): boolean =>
  /^[^\p{C}\p{Z}](?:[^\p{C}]{0,126}[^\p{C}\p{Z}])?$/u.test(name) && !name.startsWith('org_')

export async function findOrganization(
  db: Db,
  idOrName: string,
): Promise<OrganizationRow | undefined> {
  if (await isDistributed(db)) {
    const id = await namedOrganization(db, idOrName)
    return id === undefined ? undefined : findById(db, id)
  }
  return db
    .selectFrom('organization')
    .selectAll()
    .where((where) => where.or([where('id', '=', idOrName), where('name', '=', idOrName)]))
    .executeTakeFirst()
}

/** Returns true if an organization has this id or name, also while its node is lost. */
export const organizationExists = async (db: Db, idOrName: string): Promise<boolean> =>
  (await isDistributed(db))
    ? (await namedOrganization(db, idOrName)) !== undefined
    : (await findOrganization(db, idOrName)) !== undefined

const findById = (db: Db, id: string): Promise<OrganizationRow | undefined> =>
  db.selectFrom('organization').selectAll().where('id', '=', id).executeTakeFirst()

/** An organization as in the API and in entries. */
export interface OrganizationRecord {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly settings: OrganizationSettings
  /** Absent without any. */
  readonly limits?: OrganizationLimits
  readonly suspended_at?: string
  /** When the operator may remove all rows; absent unless a deletion is scheduled. */
  readonly delete_after?: string
  readonly created_at: string
}

export const organizationRecord = (row: OrganizationRow): OrganizationRecord => ({
  id: row.id,
  name: row.name,
  plan: row.plan as Plan,
  settings: settingsOf(row),
  ...(row.limits !== '{}' && { limits: limitsOf(row) }),
  ...(row.suspended_at !== null && { suspended_at: row.suspended_at }),
  ...(row.delete_after !== null && { delete_after: row.delete_after }),
  created_at: row.created_at,
})

const LAW =
  'Articles 19(1) and 26(6) of the EU AI Act require providers and deployers of high-risk AI systems to keep logs for at least six months'

/** Returns the warning about a retention below the legal minimum. */
export const shortRetentionWarning = (days: number): string =>
  `Entries may be removed after ${days} days. ${LAW} (${LEAST_RETENTION_DAYS} days).`

/** Returns the warnings about the settings of an organization. */
export const settingsWarnings = ({
  retention_days: days,
}: Pick<OrganizationSettings, 'retention_days'>): { warnings?: string[] } =>
  days < LEAST_RETENTION_DAYS ? { warnings: [shortRetentionWarning(days)] } : {}

/** Throws `invalid_request` for an unconfirmed retention below the legal minimum. */
export function checkRetention(days: unknown, isAcknowledged: boolean): void {
  if (typeof days !== 'number' || days >= LEAST_RETENTION_DAYS || isAcknowledged) return
  throw invalid(
    'settings.retention_days',
    `must be at least ${LEAST_RETENTION_DAYS} unless acknowledge_short_retention is set. ${LAW}`,
  )
}

/**
 * Returns true if an organization exchanges tokens without an ingest key (`keyless_exchange`). No plan
 * is higher than `ceiling`.
 */
export async function allowsKeylessExchange(db: Db, ceiling: Plan): Promise<boolean> {
  if (!reaches(ceiling, 'enterprise')) return false
  const found = await eachPart(
    db,
    (part) =>
      db
        .selectFrom('organization')
        .select('id')
        .where(inPart(part, 'id'))
        .where('plan', '=', 'enterprise')
        // Settings are compact JSON, in which no string can contain an unescaped quote.
        .where('settings', 'like', '%"keyless_exchange":true%')
        .limit(1)
        .executeTakeFirst(),
    ignore,
  )
  return found.some((row) => row !== undefined)
}

/** An organization that cannot be read exchanges nothing now. */
const ignore = (): void => undefined
