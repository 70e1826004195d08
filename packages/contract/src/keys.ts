import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { page, Paging, PathId, Role, Timestamp } from './primitives.ts'

export const KeyInput = z
  .strictObject({
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
  .meta({ id: 'KeyInput' })
export type KeyInput = z.infer<typeof KeyInput>

/** An ingest key without its secret and hash. */
export const Key = z
  .object({
    id: z.string(),
    role: Role,
    person: z.string().nullable(),
    name: z.string().nullable(),
    created_at: Timestamp,
    revoked_at: Timestamp.nullable(),
  })
  .meta({ id: 'Key' })
export type Key = z.infer<typeof Key>

const NewKey = z.object({
  secret: z.string().nullable().describe('null in the repeat of an Idempotency-Key'),
  secret_available: z.boolean().optional(),
  key: Key,
  ledger: Receipt.optional(),
})

const Id = z.strictObject({ id: PathId })
const byAdmins = { plan: 'team', roles: [], scope: null } as const

export const keys = {
  listKeys: endpoint({
    method: 'GET',
    path: '/v1/keys',
    ...byAdmins,
    summary: 'List the keys of the organization, including revoked ones',
    query: z.strictObject(Paging),
    ok: page(Key),
    status: 200,
  }),
  createKey: endpoint({
    method: 'POST',
    path: '/v1/keys',
    ...byAdmins,
    viaWriter: true,
    secretField: 'secret',
    summary: 'Create a key; its secret is shown once',
    body: KeyInput,
    ok: NewKey,
    status: 201,
  }),
  rotateKey: endpoint({
    method: 'POST',
    path: '/v1/keys/{id}/rotate',
    ...byAdmins,
    viaWriter: true,
    secretField: 'secret',
    summary: 'Replace a key; the old one is revoked immediately',
    params: Id,
    ok: NewKey,
    status: 201,
  }),
  revokeKey: endpoint({
    whileSuspended: true,
    method: 'DELETE',
    path: '/v1/keys/{id}',
    ...byAdmins,
    viaWriter: true,
    summary: 'Revoke a key with immediate effect',
    params: Id,
    ok: z.object({ id: z.string(), revoked_at: Timestamp, ledger: Receipt.optional() }),
    status: 200,
  }),
}
