import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { integer } from './primitives.ts'

const Hash = z.string().regex(/^[0-9a-f]{64}$/)
const SeqBound = integer(0, Number.MAX_SAFE_INTEGER)
const MAX_NOTE = 10_000

export const VerifyLedgerRequest = z
  .strictObject({
    from_seq: SeqBound.optional().describe(
      'The first entry to look at; the beginning unless given',
    ),
    to_seq: SeqBound.optional().describe('The last one; the end unless given'),
    checkpoint: z
      .string()
      .min(1)
      .max(MAX_NOTE)
      .optional()
      .describe(
        'A signed note of this ledger that was kept elsewhere, to hold it against; its last newline may be missing, and CRLF is taken',
      ),
  })
  .meta({ id: 'VerifyLedgerRequest' })
export type VerifyLedgerRequest = z.infer<typeof VerifyLedgerRequest>

const LedgerFault = z.object({ seq: z.int(), code: z.string(), detail: z.string().optional() })
const Compared = z.object({ checked: z.int(), mismatched: z.int() })

export const LedgerVerification = z
  .object({
    valid: z.boolean().describe('No error in what was checked; `not_checked` says what was not'),
    status: z.enum(['ok', 'tampered', 'incomplete', 'behind_checkpoint']),
    checked: z.object({ from_seq: z.int(), to_seq: z.int(), entries: z.int() }),
    head: z.object({ seq: z.int(), hash: Hash }).describe('The last entry that was seen'),
    root: Hash.nullable().describe('Merkle root over all entries up to it'),
    anchored_by: z
      .enum(['none', 'signature', 'external'])
      .describe(
        'What holds the ledger: nothing but itself, the server’s key, a checkpoint outside',
      ),
    truncation_checked: z
      .boolean()
      .describe(
        'A checkpoint from outside covers the last entry, and none is ahead of it. An older checkpoint or the server’s own signature does not show that the end is there; `not_checked` says after which size entries may be missing',
      ),
    redacted: z.int().describe('Erased payloads'),
    pruned: z
      .array(z.object({ seq: z.int(), cut: z.int() }))
      .describe('Entries that record pruning, and where each let the ledger begin'),
    first_invalid: z.object({ seq: z.int(), code: z.string() }).nullable(),
    errors: z.array(LedgerFault).describe('The first hundred, by sequence number'),
    error_count: z.int(),
    gaps: z.int().describe('Runs of missing sequence numbers'),
    checkpoints: Compared.extend({
      outside: z
        .int()
        .describe('Notes of the ledger in the folder of checkpoints, compared or not'),
    }),
    reports: Compared.describe('Stored reports against the entries that recorded them'),
    not_checked: z.array(z.string()).describe('What this says nothing about; never empty'),
    duration_ms: z.int(),
    recorded: z.boolean().describe('Whether an entry `ledger.verified` tells of this'),
    not_recorded: z.string().nullable().describe('Why it does not'),
    ledger: Receipt.nullable(),
  })
  .meta({ id: 'LedgerVerification' })
export type LedgerVerification = z.infer<typeof LedgerVerification>

export const verifyLedger = {
  verifyLedger: endpoint({
    method: 'POST',
    path: '/v1/compliance/verify-ledger',
    plan: 'team',
    roles: ['read', 'approver'],
    scope: null,
    summary: 'Verify the ledger and the stored reports; 200 also when they are broken',
    body: VerifyLedgerRequest,
    ok: LedgerVerification,
    status: 200,
    maxSeconds: 600,
  }),
}
