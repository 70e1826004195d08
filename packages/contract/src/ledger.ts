import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import {
  Action,
  AgentId,
  Amounts,
  component,
  FreeForm,
  page,
  Paging,
  Resource,
  Seq,
  Timestamp,
  Usd,
  wholeNumber,
} from './primitives.ts'

const Hash = z.string().regex(/^[0-9a-f]{64}$/)

/** The position of the entry of a response, and the signed state of the ledger. */
export const Receipt = component('Receipt', {
  seq: z.int(),
  hash: Hash,
  checkpoint: z
    .union([z.string(), z.object({ size: z.int(), root: Hash })])
    .describe('The signed note with `Prefer: receipt`, else size and root'),
})
export type Receipt = z.infer<typeof Receipt>

export const Actor = component('Actor', { type: z.string(), id: z.string() })
export type Actor = z.infer<typeof Actor>

/** One entry in the API: the hashed header and the payload of its commitment. */
export const Entry = z.object({
  seq: z.int(),
  kind: z.string(),
  recorded_at: Timestamp,
  actor: Actor.nullable(),
  agent_id: z.string().nullable(),
  action: z.string().nullable(),
  resource: z.string().nullable(),
  decision: z.string().nullable(),
  reason: z.string().nullable(),
  data: z.record(z.string(), z.unknown()).nullable().describe('null if erased'),
  commitment: Hash,
  salt: z.string().nullable(),
  prev_hash: Hash,
  hash: Hash,
})
export type Entry = z.infer<typeof Entry>

/** An entry with the bytes that its commitment covers. */
const EntryWithPayload = Entry.extend({
  payload: z
    .string()
    .nullable()
    .describe('The stored text whose hash with `salt` is `commitment`; null if erased'),
}).meta({ id: 'LedgerEntryWithPayload' })

const PartialEntry = Entry.partial({ data: true, salt: true }).meta({ id: 'LedgerEntry' })

/** An entry as `fields=header` lists it, without its payload. */
export type ListedEntry = z.infer<typeof PartialEntry>

/** Typed as a whole entry, which every list without `fields=header` has. */
const EntryOfList = PartialEntry as unknown as typeof Entry

const EntryFields = z
  .enum(['all', 'header'])
  .default('all')
  .describe('`header` omits `data` and `salt`')

const LedgerKey = component('LedgerKey', {
  vkey: z.string().describe('C2SP verifier key'),
  key_id: z.string().describe('Its id, 8 hexadecimal digits'),
  from_seq: z.int().describe('The first entry whose checkpoints it signed'),
  to_seq: z.int().nullable().describe('The last one; null for the key in use'),
})
export type LedgerKey = z.infer<typeof LedgerKey>

const TraceId = z
  .string()
  .max(256)
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'must be printable, without control or format characters')

/**
 * Actor types that callers may use for an entry. The types that the server verifies are reserved:
 * `system`, `key`, `credential`, `person`, `issuer`.
 */
export const CLAIMED_ACTOR_TYPES = [
  'agent',
  'client',
  'service',
  'tool',
  'user',
  'workload',
] as const

export const AppendOutcome = z.enum(['success', 'failure', 'unknown']).meta({ id: 'AppendOutcome' })

export const AppendRequest = z
  .strictObject({
    action: Action,
    actor: z
      .union([AgentId, z.strictObject({ type: z.enum(CLAIMED_ACTOR_TYPES), id: AgentId })])
      .optional(),
    agent_id: AgentId.optional(),
    resource: Resource.optional(),
    trace_id: TraceId.optional(),
    metadata: FreeForm.optional(),
    cost_usd: Usd.optional(),
    amounts: Amounts.optional().describe(
      'Amounts in other units than US dollars; with `decision_id`, they settle what budgets hold',
    ),
    decision_id: z.string().max(64).nullable().optional(),
    settle: z.enum(['held', 'release']).optional(),
    occurred_at: Timestamp.optional(),
    outcome: AppendOutcome.optional(),
  })
  .refine(({ settle, decision_id: id }) => settle === undefined || typeof id === 'string', {
    path: ['decision_id'],
    message: 'is required with settle',
  })
  .refine(({ settle, cost_usd: cost }) => settle === undefined || cost === undefined, {
    path: ['settle'],
    message: 'must not be combined with cost_usd',
  })
  .refine(({ settle, amounts }) => settle === undefined || amounts === undefined, {
    path: ['settle'],
    message: 'must not be combined with amounts',
  })
  .meta({ id: 'AppendRequest' })
export type AppendRequest = z.infer<typeof AppendRequest>

const Filters = z.strictObject({
  ...Paging,
  agent_id: AgentId.optional(),
  actor: AgentId.optional(),
  action: z.string().min(1).max(256).optional().describe('`*` stands for any run of characters'),
  kind: z.string().max(64).optional(),
  trace_id: TraceId.min(1).optional(),
  decision_id: z.string().min(1).max(64).optional(),
  decision: z.enum(['allow', 'deny', 'needs_approval']).optional(),
  from: Timestamp.optional(),
  to: Timestamp.optional(),
  after_seq: Seq.optional(),
  before_seq: Seq.optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
  fields: EntryFields,
})
export type LedgerFilters = Omit<z.infer<typeof Filters>, 'fields'>

const SeqParam = z.strictObject({ seq: Seq })
const reading = {
  plan: 'team',
  roles: ['read', 'approver', 'ingest'],
  scope: 'ledger:read',
} as const

export const ledger = {
  listEntries: endpoint('GET /v1/ledger', {
    ...reading,
    summary: 'List ledger entries, newest first by default',
    text: 'Lists ledger entries by the given filters, newest first unless `order=asc`. `head` is the last entry of the ledger. Pruned entries return 410.',
    problems: ['agent_mismatch', 'ledger_pruned'],
    query: Filters,
    ok: page(EntryOfList).extend({ head: z.object({ seq: z.int(), hash: Hash }) }),
  }),
  appendEntry: endpoint('POST /v1/ledger', {
    plan: 'team',
    roles: ['ingest'],
    scope: 'ledger:append',
    viaWriter: true,
    summary: 'Append a ledger entry; cost_usd counts as spend',
    text: 'Appends an entry of the kind `entry.appended`. `cost_usd` counts as spend; with `decision_id` it settles the amount that the decision held, once.',
    problems: ['decision_not_found', 'decision_settled', 'agent_mismatch', 'scope_required'],
    body: AppendRequest,
    ok: Entry.extend({ ledger: Receipt }),
    status: 201,
  }),
  getCheckpoint: endpoint('GET /v1/ledger/checkpoint', {
    ...reading,
    summary: 'Get the newest signed checkpoint, a C2SP note',
    text: 'Returns the newest checkpoint: a C2SP signed note with the size and the Merkle root of the ledger. Keep copies outside of the installation to detect a rollback.',
    ok: z.string(),
    also: {
      json: z
        .object({
          note: z.string().describe('The signed note, as in the answer in text form'),
          origin: z.string().describe('The first line of the note, which names the ledger'),
          size: z.int(),
          hash: Hash,
          vkey: z.string().describe('The verifier key of the note'),
        })
        .meta({ id: 'CheckpointParts' }),
    },
    produces: 'text/plain',
  }),
  getConsistency: endpoint('GET /v1/ledger/consistency', {
    ...reading,
    summary: 'Get a consistency proof between two tree sizes',
    text: 'Proves that the newer tree contains all entries of the older one (RFC 6962). Both sizes must be between 1 and the size of the ledger.',
    problems: ['size_not_signed', 'ledger_pruned'],
    query: z.strictObject({ from: Seq, to: Seq }),
    ok: z.object({
      from: z.int(),
      to: z.int(),
      from_root: Hash,
      to_root: Hash,
      proof: z.array(z.string()).describe('base64 hashes, RFC 6962 order'),
    }),
  }),
  listLedgerKeys: endpoint('GET /v1/ledger/keys', {
    ...reading,
    summary: 'List every key that has signed the ledger, oldest first',
    text: 'Lists the keys that have signed checkpoints of the ledger, with the entries at which they began and ended. The ledger itself names these keys: pin the first one that you see, and accept another one only with its rotation.',
    ok: z.object({ data: z.array(LedgerKey) }),
  }),
  streamEntries: endpoint('GET /v1/ledger/events', {
    ...reading,
    scope: null,
    summary: 'Stream new ledger entries as server-sent events; resumes after Last-Event-ID',
    text: 'Streams new entries as server-sent events, from the end of the ledger or after `after_seq`. The id of an event is the sequence number, and its name is the kind. Entries arrive within a second of their commit. The stream ends with the key or session.',
    problems: ['overloaded'],
    query: z.strictObject({
      kind: Filters.shape.kind,
      agent_id: Filters.shape.agent_id,
      decision: Filters.shape.decision,
      after_seq: Seq.optional(),
      fields: EntryFields,
    }),
    ok: z.string(),
    produces: 'text/event-stream',
    takes: ['Last-Event-ID'],
  }),
  exportEntries: endpoint('GET /v1/ledger/export', {
    ...reading,
    scope: null,
    summary: 'Export the ledger as NDJSON',
    text: 'Streams the ledger as NDJSON for offline verification with `remit-verify`. An interrupted export resumes with `after_seq`.',
    problems: ['ledger_pruned'],
    query: z.strictObject({ after_seq: Seq.optional() }),
    ok: z.string(),
    produces: 'application/x-ndjson',
  }),
  getEntry: endpoint('GET /v1/ledger/{seq}', {
    ...reading,
    summary: 'Get a ledger entry with the text that its hash covers',
    text: 'Returns one entry with its payload. An erased payload is `data: null`.',
    problems: ['ledger_entry_not_found', 'ledger_pruned'],
    params: SeqParam,
    ok: EntryWithPayload,
  }),
  getProof: endpoint('GET /v1/ledger/{seq}/proof', {
    ...reading,
    summary: 'Get the inclusion proof of an entry, a C2SP tlog-proof',
    text: 'Proves that an entry is in the ledger: a C2SP tlog-proof with the signed checkpoint. The default `size` is that of the newest tree.',
    problems: ['ledger_entry_not_found', 'size_not_signed', 'ledger_pruned'],
    params: SeqParam,
    query: z.strictObject({ size: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional() }),
    ok: z.string(),
    also: {
      json: z
        .object({
          seq: z.int(),
          proof: z.string().describe('The tlog-proof, as in the answer in text form'),
        })
        .meta({ id: 'InclusionProof' }),
    },
    produces: 'text/plain',
  }),
}
