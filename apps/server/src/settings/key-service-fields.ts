import { KEY_REFERENCE_RULE, parseKeyReference } from '@remit/core'
import { z } from 'zod'
import { HTTP_URL, whole } from './fields.ts'

/** Settings of keys in a key management service. */
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
}
