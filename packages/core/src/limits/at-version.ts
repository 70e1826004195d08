import { OrganizationSettings } from '@remit/contract'
import type { OrganizationLimits } from '@remit/contract'
import { rowOf } from '@remit/contract/entries'
import type { SnapshotPart } from '@remit/contract/entries'
import { LRUCache } from 'lru-cache'
import { MAX_CACHED_ORGS, upTo } from '../base/page.ts'
import { on, statement } from '../db/portable.ts'
import type { AnyDatabase } from '../db/portable.ts'
import type { CoreTables, LedgerHeadRow } from '../db/schema.ts'
import { organizationDeleted } from './deleted.ts'
import { limitsOf } from './limits.ts'

/** An organization at one version of its configuration. */
export interface OrganizationAtVersion {
  readonly isSuspended: boolean
  readonly limits: OrganizationLimits
  readonly settings: OrganizationSettings
}

/** Parts of the rules of an organization; `all` also stands for the organization itself. */
export type ChangedParts = ReadonlySet<SnapshotPart> | 'all'

interface Step {
  readonly from: number
  readonly to: number
  readonly parts: ReadonlySet<SnapshotPart>
}

interface KnownVersion {
  readonly version: number
  readonly organization: OrganizationAtVersion
  /** Entries in the ledger that this process has taken into account, and the hash of the last one. */
  size: number
  hash: string
  /** How the versions followed each other since all was loaded, oldest first. */
  readonly steps: readonly Step[]
}

type Head = Pick<LedgerHeadRow, 'org_id' | 'config_version' | 'size' | 'hash'>

const MAX_STEPS = 32
/** Entries between two versions; more cost as much as to load everything. */
const MAX_ENTRIES = 1_000

const kinds = statement<{ kind: string; entries: number | string | bigint }>(
  'select kind, count(*) as entries from ledger_entry where org_id = ? and seq >= ? and seq < ? group by kind',
)

const hashes = statement<{ hash: string }>(
  'select hash from ledger_entry where org_id = ? and seq = ?',
)

/**
 * The organizations as last read. They need no time limit: every change moves `config_version`. Such a
 * change also appends entries, and their kinds say which parts of the rules it can have changed.
 */
export class OrganizationVersions {
  readonly #known = new LRUCache<string, KnownVersion>(upTo(MAX_CACHED_ORGS))

  /**
   * Returns the organization at the version of a head, read in the transaction that read the head.
   * Throws `unauthorized` for an organization whose last entry is written.
   */
  async at(tx: AnyDatabase, head: Head): Promise<OrganizationAtVersion> {
    const { org_id: orgId, config_version: version, size } = head
    const known = this.#known.get(orgId)
    if (known?.version === version) {
      if (size > known.size) Object.assign(known, { size, hash: head.hash })
      return known.organization
    }
    const parts = known ? await changedParts(tx, known, head) : 'all'
    const organization =
      known && parts !== 'all' ? known.organization : await readOrganization(tx, orgId)
    const steps =
      known && parts !== 'all' ? [...known.steps, { from: known.version, to: version, parts }] : []
    const { hash } = head
    this.#known.set(orgId, { version, organization, size, hash, steps: steps.slice(-MAX_STEPS) })
    return organization
  }

  /** Returns the organization that this process read last; null if none. */
  last(orgId: string): OrganizationAtVersion | null {
    return this.#known.get(orgId)?.organization ?? null
  }

  /** Returns the parts that can have changed between two versions; `all` where this process cannot know. */
  partsBetween(orgId: string, from: number, to: number): ChangedParts {
    const steps = this.#known.get(orgId)?.steps ?? []
    const changed = new Set<SnapshotPart>()
    let at = from
    for (const step of steps) {
      if (step.from !== at) continue
      for (const part of step.parts) changed.add(part)
      at = step.to
      if (at === to) return changed
    }
    return 'all'
  }
}

/** The parts that the entries since a known end can have changed. */
async function changedParts(
  tx: AnyDatabase,
  known: KnownVersion,
  { org_id: orgId, config_version: version, size: to }: Head,
): Promise<ChangedParts> {
  const from = known.size
  if (version < known.version || to <= from || to - from > MAX_ENTRIES) return 'all'
  // The end may be of another history: a backup was restored, or a standby without it was promoted.
  const [end] = await hashes(tx, [orgId, from - 1])
  if (end?.hash !== known.hash) return 'all'
  const parts = new Set<SnapshotPart>()
  let found = 0
  for (const { kind, entries } of await kinds(tx, [orgId, from, to])) {
    const touches = rowOf(kind)?.touches ?? 'all'
    if (touches === 'all') return 'all'
    for (const part of touches) parts.add(part)
    found += Number(entries)
  }
  // Pruned entries could have changed anything.
  return found === to - from ? parts : 'all'
}

/** Reads an organization. Throws `unauthorized` for a deleted one. */
export async function readOrganization(
  db: AnyDatabase,
  orgId: string,
): Promise<OrganizationAtVersion> {
  const row = await on<CoreTables>(db)
    .selectFrom('organization')
    .select(['limits', 'settings', 'suspended_at', 'deleted_at'])
    .where('id', '=', orgId)
    .executeTakeFirstOrThrow()
  if (row.deleted_at !== null) throw organizationDeleted()
  return {
    isSuspended: row.suspended_at !== null,
    limits: limitsOf(row),
    settings: OrganizationSettings.parse(JSON.parse(row.settings)),
  }
}
