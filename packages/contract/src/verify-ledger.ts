import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { component, integer, strictComponent } from './primitives.ts'

const Hash = z.string().regex(/^[0-9a-f]{64}$/)
const SeqBound = integer(0, Number.MAX_SAFE_INTEGER)
const MAX_NOTE = 10_000

export const VerifyLedgerRequest = strictComponent('VerifyLedgerRequest', {
  from_seq: SeqBound.optional().describe(
    'First entry to verify. Default: the first entry of the ledger',
  ),
  to_seq: SeqBound.optional().describe(
    'Last entry to verify. Default: the last entry of the ledger',
  ),
  checkpoint: z
    .string()
    .min(1)
    .max(MAX_NOTE)
    .optional()
    .describe(
      'External checkpoint of this ledger (a signed note) to compare with; the last newline may be missing, and CRLF is accepted',
    ),
})
export type VerifyLedgerRequest = z.infer<typeof VerifyLedgerRequest>

const LedgerFault = z.object({ seq: z.int(), code: z.string(), detail: z.string().optional() })
const Compared = z.object({ checked: z.int(), mismatched: z.int() })

export const LedgerVerification = component('LedgerVerification', {
  valid: z
    .boolean()
    .describe('True if the checked parts have no errors; see `not_checked` for the limits'),
  status: z.enum(['ok', 'tampered', 'incomplete', 'behind_checkpoint']),
  checked: z.object({ from_seq: z.int(), to_seq: z.int(), entries: z.int() }),
  head: z.object({ seq: z.int(), hash: Hash }).describe('The last verified entry'),
  root: Hash.nullable().describe('Merkle root over all entries up to it'),
  anchored_by: z
    .enum(['none', 'signature', 'external'])
    .describe('Source of trust: none, the key of the server, or an external checkpoint'),
  truncation_checked: z
    .boolean()
    .describe(
      'True if an external checkpoint covers the last entry, none is ahead of it and none disagrees. An older checkpoint or the signature of the server does not prove that the last entries are present; `not_checked` has the size after which entries may be missing',
    ),
  redacted: z.int().describe('Erased payloads'),
  pruned: z
    .array(z.object({ seq: z.int(), cut: z.int() }))
    .describe('Entries that record a pruning, with the new start of the ledger'),
  first_invalid: z.object({ seq: z.int(), code: z.string() }).nullable(),
  errors: z.array(LedgerFault).describe('The first hundred, by sequence number'),
  error_count: z.int(),
  gaps: z.int().describe('Ranges of missing sequence numbers'),
  checkpoints: Compared.extend({
    outside: z.int().describe('Notes of the ledger in the checkpoint folder, compared or not'),
  }),
  reports: Compared.describe('Stored reports against the entries that recorded them'),
  not_checked: z.array(z.string()).describe('Limits of the verification; never empty'),
  duration_ms: z.int(),
  recorded: z.boolean().describe('True if an entry `ledger.verified` records this result'),
  not_recorded: z.string().nullable().describe('Reason why it is not recorded'),
  ledger: Receipt.nullable(),
})
export type LedgerVerification = z.infer<typeof LedgerVerification>

export const verifyLedger = {
  verifyLedger: endpoint('POST /v1/compliance/verify-ledger', {
    whileSuspended: true,
    plan: 'team',
    roles: ['read', 'approver'],
    summary: 'Verify the ledger and the stored reports; 200 even with errors',
    text: 'Verifies hashes, Merkle tree, signatures and stored reports. Returns 200 even for an invalid ledger; see `valid` and `errors`. `not_checked` lists the limits of the result.',
    body: VerifyLedgerRequest,
    ok: LedgerVerification,
    maxSeconds: 600,
  }),
}
