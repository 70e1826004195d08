import { sql } from 'kysely'
import { isDistributed } from './distributed.ts'
import type { Database } from './open.ts'
import type { CoreTables } from './schema.ts'

type Db = Database<CoreTables>

/** The address of a node, as the cluster knows it. */
export interface NodeAddress {
  readonly host: string
  readonly port: number
}

export interface NearNodesOptions {
  /** Opens connections to a node, with the role and database of the cluster. */
  readonly open: (address: NodeAddress) => Promise<Db>
  /** Called when a node that has an organization cannot be used. */
  readonly onError: (error: unknown) => void
}

interface Place {
  readonly node: Db | null
  /** Until then, nobody looks again. */
  readonly until: number
}

/** An organization moves rarely; meanwhile its former node passes its statements on. */
const REFRESH_MS = 60_000
const MAX_PLACES = 100_000

/**
 * Connections to the nodes of a Citus cluster. A transaction of one organization runs faster on the
 * node that has its rows: every node accepts every statement, but passes those for others on. This
 * only saves time. What a node must not decide stays with the main connection.
 */
export class NearNodes {
  readonly #main: Db
  readonly #options: NearNodesOptions
  readonly #nodes = new Map<string, Promise<Db>>()
  readonly #places = new Map<string, Place>()
  readonly #looking = new Map<string, Promise<void>>()

  constructor(main: Db, options: NearNodesOptions) {
    this.#main = main
    this.#options = options
  }

  /**
   * Returns connections to the node with the rows of an organization. Null while it is not known, or
   * does not answer; a call looks for it then, and does not wait.
   */
  of(orgId: string): Db | null {
    const place = this.#places.get(orgId)
    if ((place?.until ?? 0) < performance.now() && !this.#looking.has(orgId)) {
      const looking = this.#look(orgId).finally(() => this.#looking.delete(orgId))
      this.#looking.set(orgId, looking)
    }
    return place?.node ?? null
  }

  /** Uses the main connection for an organization until its node has answered again. */
  forget(orgId: string): void {
    this.#places.delete(orgId)
  }

  async close(): Promise<void> {
    await Promise.all(this.#looking.values())
    await Promise.all([...this.#nodes.values()].map(async (node) => (await node).destroy()))
  }

  async #look(orgId: string): Promise<void> {
    let node: Db | null = null
    try {
      node = await this.#find(orgId)
    } catch (error) {
      this.#options.onError(error)
    }
    // Far more than one process serves; forgotten places are found again.
    if (this.#places.size >= MAX_PLACES) this.#places.clear()
    this.#places.set(orgId, { node, until: performance.now() + REFRESH_MS })
  }

  #open(key: string, address: NodeAddress): Promise<Db> {
    const known = this.#nodes.get(key)
    if (known) return known
    const opening = this.#options.open(address)
    this.#nodes.set(key, opening)
    opening.catch(() => this.#nodes.delete(key))
    return opening
  }

  async #find(orgId: string): Promise<Db | null> {
    if (!(await isDistributed(this.#main))) return null
    const { rows } = await sql<NodeAddress>`select n.nodename as host, n.nodeport as port
      from pg_dist_placement p join pg_dist_node n using (groupid)
      where p.shardid = get_shard_id_for_distribution_column('ledger_head', ${orgId}::text)
        and n.noderole = 'primary'`.execute(this.#main)
    const [address] = rows
    if (!address) return null
    const key = `${address.host}:${address.port}`
    const node = await this.#open(key, address)
    // The name may lead to another server from here than from the coordinator.
    const head = await node
      .selectFrom('ledger_head')
      .select('org_id')
      .where('org_id', '=', orgId)
      .executeTakeFirst()
    if (!head || !(await isDistributed(node)))
      throw new Error(`${key} is not the node of the cluster that has organization ${orgId}`)
    return node
  }
}
