import { inventory as endpoints } from '@remit/contract'
import type { Inventory, InventoryInput } from '@remit/contract'
import { fail, pageOf } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import { orgTable } from '@remit/core/db'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { receipted } from '@remit/core/ledger/lanes'
import type { InventoryRow } from '../tables/hooks.ts'
import type { Tables } from '../tables/schema.ts'

const MAX_HOSTS = 10_000
/** Names in an entry; the inventory itself has all. */
const MAX_NAMED = 200

const hosts = orgTable<Tables, 'inventory'>('inventory', 'host', [])

const wire = ({ document, reported_at }: InventoryRow): Inventory => ({
  ...(JSON.parse(document) as InventoryInput),
  reported_at,
})

/** Agent hosts and what governs them, as `remit discover` reports them. */
export const inventoryRoutes = ({ db, writer }: Pick<Deps, 'db' | 'writer'>): Route[] =>
  implement(endpoints, {
    listInventory: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => hosts.list(db, orgId, { limit, after: query.cursor }),
        cursor: ({ host }) => host,
        items: (rows) => rows.map(wire),
      }),

    reportInventory: ({ body }, caller, request) =>
      writer.work(caller.orgId, request, async ({ tx, orgId, recordedAt }, admitted) => {
        const known = await hosts.find(tx, orgId, body.host)
        if (!known && (await hosts.count(tx, orgId)) >= MAX_HOSTS)
          throw fail('too_many_hosts', `An organization can have at most ${MAX_HOSTS} hosts`)
        const row = {
          org_id: orgId,
          host: body.host,
          document: JSON.stringify(body),
          reported_at: recordedAt,
        }
        await hosts.put(tx, row)
        const data = { inventory: recorded(body), ...personOf(admitted) }
        const entry = { kind: 'inventory.reported', actor: actorOf(admitted), data } as const
        return receipted([entry], wire(row))
      }),
  })

function recorded({ host, items, unread }: InventoryInput) {
  const ungoverned = items.filter(({ governed }) => !governed)
  return {
    host,
    items: items.length,
    governed: items.length - ungoverned.length,
    ungoverned: ungoverned.slice(0, MAX_NAMED).map(({ kind, name }) => ({ kind, name })),
    unread: unread.length,
  }
}
