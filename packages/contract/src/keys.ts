import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { component, page, Paging, PathId, Role, strictComponent, Timestamp } from './primitives.ts'

export const KeyInput = strictComponent('KeyInput', {
  role: Role,
  person: z
    .email('must be an e-mail address')
    .max(254)
    .nullable()
    .default(null)
    .describe('Person that the key represents'),
  name: z
    .string()
    .regex(/^[^\p{C}]{1,128}$/u, 'must be 1 to 128 printable characters')
    .nullable()
    .default(null)
    .describe('Purpose of the key'),
})
export type KeyInput = z.infer<typeof KeyInput>

/** An ingest key without its secret and hash. */
export const Key = component('Key', {
  id: z.string(),
  role: Role,
  person: z.string().nullable(),
  name: z.string().nullable(),
  created_at: Timestamp,
  revoked_at: Timestamp.nullable(),
})
export type Key = z.infer<typeof Key>

const NewKey = z.object({
  secret: z.string().nullable().describe('null in the repeat of an Idempotency-Key'),
  secret_available: z.boolean().optional(),
  key: Key,
  ledger: Receipt.optional(),
})

const Id = z.strictObject({ id: PathId })

export const keys = {
  listKeys: endpoint('GET /v1/keys', {
    plan: 'team',
    summary: 'List the keys of the organization, including revoked ones',
    text: 'Lists the ingest keys of the organization, including revoked ones. Secrets and their hashes are never shown.',
    query: z.strictObject(Paging),
    ok: page(Key),
  }),
  createKey: endpoint('POST /v1/keys', {
    plan: 'team',
    viaWriter: true,
    secretField: 'secret',
    summary: 'Create a key; its secret is shown once',
    text: 'Creates an ingest key. `secret` is shown once; a repeat under the same Idempotency-Key has `secret: null`.',
    body: KeyInput,
    ok: NewKey,
    status: 201,
  }),
  rotateKey: endpoint('POST /v1/keys/{id}/rotate', {
    plan: 'team',
    viaWriter: true,
    secretField: 'secret',
    summary: 'Replace a key; the old one is revoked immediately',
    text: 'Replaces a key with a new one that has the same role, person and name. The old key is revoked before the response.',
    problems: ['key_not_found'],
    params: Id,
    ok: NewKey,
    status: 201,
  }),
  revokeKey: endpoint('DELETE /v1/keys/{id}', {
    whileSuspended: true,
    plan: 'team',
    viaWriter: true,
    summary: 'Revoke a key with immediate effect',
    text: 'Revokes a key on every process of the installation. The last key that can administer the organization cannot be revoked.',
    problems: ['key_not_found', 'last_admin_key'],
    params: Id,
    ok: z.object({ id: z.string(), revoked_at: Timestamp, ledger: Receipt.optional() }),
  }),
}
