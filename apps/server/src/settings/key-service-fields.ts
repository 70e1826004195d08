import { KEY_REFERENCE_RULE, parseKeyReference } from '@remit/core/kms'
import { z } from 'zod'
import { HTTP_URL, whole } from './fields.ts'

/** Settings of keys in a key management service, and of the object store for checkpoints. */
export const keyServiceFields = {
  REMIT_LEDGER_KEY: z
    .string()
    .refine((text) => parseKeyReference(text) !== null, `must be ${KEY_REFERENCE_RULE}`)
    .optional()
    .describe(
      'Key of AWS KMS or Vault that decrypts `REMIT_LEDGER_KEY_FILE` at the start; see [keys.md](keys.md)',
    ),
  REMIT_LEDGER_KEY_ENDPOINT: HTTP_URL.optional().describe(
    'Address of that service; default: that of AWS, or `VAULT_ADDR`',
  ),
  REMIT_WITNESS: z
    .string()
    .refine((text) => parseKeyReference(text) !== null, `must be ${KEY_REFERENCE_RULE}`)
    .optional()
    .describe(
      'Key of AWS KMS or Vault that also signs the checkpoints of `REMIT_CHECKPOINT_DIR`; see [keys.md](keys.md)',
    ),
  REMIT_WITNESS_ENDPOINT: HTTP_URL.optional().describe(
    'Address of that service; default: that of AWS, or `VAULT_ADDR`',
  ),
  REMIT_WITNESS_INTERVAL_MS: whole(1_000, 86_400_000)
    .default(60_000)
    .describe('Milliseconds between two checkpoints with a witness'),
  REMIT_CHECKPOINT_BUCKET: z
    .url({ protocol: /^https$/, error: 'must be an https URL' })
    .refine(
      (url) => /^\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/|$)/.test(new URL(url).pathname),
      'must be https://endpoint/bucket or https://endpoint/bucket/prefix',
    )
    .optional()
    .describe(
      'Bucket for copies of the checkpoints of `REMIT_CHECKPOINT_DIR`, as `https://endpoint/bucket/prefix`; see [keys.md](keys.md)',
    ),
  REMIT_CHECKPOINT_LOCK_DAYS: whole(0, 36_500)
    .default(0)
    .describe('Days for which the object lock keeps a copy; 0: as the bucket does by default'),
}
