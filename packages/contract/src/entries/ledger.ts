import { z } from 'zod'
import { Actor } from '../ledger.ts'
import { Timestamp } from '../primitives.ts'
import { LedgerVerification } from '../verify-ledger.ts'
import { by, EVENT, json } from './row.ts'
import type { EntryRows } from './row.ts'

const event = { ...EVENT, agent: 'never' } as const

const { status, checked, first_invalid, anchored_by, error_count } = LedgerVerification.shape
const { gaps, checkpoints, reports, head, truncation_checked } = LedgerVerification.shape
const bare = { description: '' }

const text = z.string().nullable()
const payload = z.object({
  action: text,
  actor: Actor,
  agent_id: text,
  data: json,
  decision: text,
  reason: text,
  resource: text,
})

export const ledger = {
  'ledger.genesis': {
    ...event,
    says: 'entry 0',
    data: z.strictObject({
      created_at: Timestamp,
      format: z.string(),
      ledger_id: z.string(),
      org_id: z.string(),
      origin: z.string(),
      server_version: z.string(),
      vkey: z.string(),
    }),
  },
  'ledger.key_rotated': {
    ...event,
    says: 'another key signs from this entry on',
    data: z.strictObject({
      endorsement: z.string(),
      new_vkey: z.string(),
      old_vkey: z.string(),
      ...by,
    }),
  },
  'ledger.recovered': {
    ...event,
    says: 'the ledger was restored from a backup that ends before a signed checkpoint',
    data: z.strictObject({
      checkpoint: z.object({ size: z.int(), root: z.string(), note: z.string() }),
      lost: z.object({ from_seq: z.int(), to_seq: z.int() }),
      reason: z.string(),
      vkey: z.string(),
    }),
    touches: 'all',
  },
  'ledger.verified': {
    ...event,
    says: 'the ledger was verified',
    data: z.strictObject({
      valid: z.boolean().describe('true if the whole ledger was verified without an error'),
      part: z.boolean(),
      status,
      checked,
      first_invalid,
      error_count,
      anchored_by: anchored_by.meta(bare),
      truncation_checked: truncation_checked.meta(bare),
      gaps: gaps.meta(bare),
      checkpoints,
      reports: reports.meta(bare),
      checkpoint: head.meta(bare),
      ...by,
    }),
  },
  'witness.set': {
    ...event,
    says: 'the [witness](keys.md#witness-checkpoints) of checkpoints outside the database, at its first use and after each change',
    data: z.strictObject({ vkey: z.string() }),
    carried: 'state',
  },
  'ledger.heartbeat': {
    ...event,
    says: '23 hours after the last heartbeat: the server is running',
    data: z.strictObject({ day: z.string() }),
    carried: 'last',
  },
  'ledger.erased': {
    ...event,
    says: 'payloads of earlier entries were erased',
    data: z.strictObject({ seqs: z.array(z.int()), reason: z.string(), ...by }),
  },
  'ledger.pruned': {
    ...event,
    says: 'the oldest entries were removed',
    data: z.strictObject({
      cut: z.int(),
      hash: z.string(),
      recorded_at: Timestamp,
      root: z.string(),
      vkey: z.string(),
      origin: z.string(),
      ledger_id: z.string(),
      from_seq: z.int(),
      entries: z.int(),
      cutoff: Timestamp,
      pruned_at: Timestamp,
      retention_days: z.int().nullable(),
      short: z.boolean(),
      export_sha256: z.string(),
      redacted: z.int(),
      carried: z.int(),
      earlier: z.array(json),
      reason: z.string(),
      ...by,
    }),
  },
  'state.carried': {
    ...event,
    says: 'before `ledger.pruned`, one for each removed entry that is carried over',
    data: z.strictObject({
      entry: z
        .object({
          seq: z.int(),
          recorded_at: Timestamp,
          kind: z.string(),
          prev_hash: z.string(),
          hash: z.string(),
          salt: z.string().optional(),
          commitment: z.string().optional(),
          payload: payload.nullable(),
        })
        .describe(
          '`seq`, `recorded_at`, `kind`, `prev_hash`, `hash`, `salt` and `payload` of the removed entry; `commitment` and a null `payload` if its payload was erased',
        ),
    }),
    carried: 'state',
  },
} as const satisfies EntryRows
