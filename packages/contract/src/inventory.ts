import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { component, Name, page, Paging, strictComponent, Timestamp } from './primitives.ts'

const MAX_ITEMS = 1_000
const Path = z.string().min(1).max(4096)

/** A part of the configuration of an agent host that `remit discover` found. */
export const InventoryItem = strictComponent('InventoryItem', {
  kind: z.enum(['mcp_server', 'hook', 'agent']),
  name: Name.describe('Name of the server, the event of the hook, or the host program'),
  path: Path.describe('The file that it was found in'),
  governed: z.boolean().describe('Remit decides its calls'),
  detail: z.string().max(500).describe('How it is started or governed, without secrets'),
})
export type InventoryItem = z.infer<typeof InventoryItem>

const found = {
  host: Name.describe('The machine or repository that was read'),
  items: z.array(InventoryItem).max(MAX_ITEMS),
  unread: z.array(Path).max(MAX_ITEMS).describe('Files that could not be read'),
}

export const InventoryInput = strictComponent('InventoryInput', found)
export type InventoryInput = z.infer<typeof InventoryInput>

export const Inventory = component('Inventory', { ...found, reported_at: Timestamp })
export type Inventory = z.infer<typeof Inventory>

export const inventory = {
  listInventory: endpoint('GET /v1/inventory', {
    plan: 'team',
    roles: ['read', 'approver'],
    summary: 'List the newest inventory of each host',
    text: 'Lists what `remit discover` reported last for each host.',
    query: z.strictObject(Paging),
    ok: page(Inventory),
  }),
  reportInventory: endpoint('POST /v1/inventory', {
    plan: 'team',
    roles: ['ingest'],
    viaWriter: true,
    summary: 'Keep what `remit discover` found on a host',
    text: 'Keeps what `remit discover` found on a host, in the place of an earlier report, and records it.',
    problems: ['too_many_hosts'],
    body: InventoryInput,
    ok: Inventory.extend({ ledger: Receipt.optional() }),
  }),
}
