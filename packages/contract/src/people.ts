import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { component, page, Paging, PathId, strictComponent, Timestamp } from './primitives.ts'

export const PersonRole = z.enum(['admin', 'approver', 'read']).meta({ id: 'PersonRole' })
export type PersonRole = z.infer<typeof PersonRole>

const Email = z.email('must be an e-mail address').max(254)
const PersonName = z
  .string()
  .regex(/^[^\p{C}]{1,128}$/u, 'must be 1 to 128 printable characters')
  .nullable()

export const PersonInput = strictComponent('PersonInput', {
  email: Email.describe('The address that the identity provider must have verified'),
  name: PersonName.default(null),
  role: PersonRole.describe('Role of the person'),
})
export type PersonInput = z.infer<typeof PersonInput>

export const PersonChange = strictComponent('PersonChange', {
  name: PersonName.optional(),
  role: PersonRole.optional().describe('Role of the person'),
  status: z
    .enum(['active', 'disabled'])
    .optional()
    .describe('`disabled` ends the sessions of the person'),
})
export type PersonChange = z.infer<typeof PersonChange>

export const Person = component('Person', {
  id: z.string(),
  email: z.string().describe('The last verified address, or that of the invitation'),
  name: z.string().nullable(),
  role: PersonRole.describe('Role of the person'),
  status: z.enum(['invited', 'active', 'disabled']).describe('`invited` until the first sign-in'),
  created_at: Timestamp,
  last_login_at: Timestamp.nullable().describe('null before the first sign-in'),
  ledger: Receipt.optional(),
})
export type Person = z.infer<typeof Person>

const Id = z.strictObject({ id: PathId })

export const people = {
  listPeople: endpoint('GET /v1/people', {
    plan: 'team',
    summary: 'List the people who may sign in to the console',
    text: 'Lists the people of the organization, oldest first.',
    query: z.strictObject(Paging),
    ok: page(Person),
  }),
  invitePerson: endpoint('POST /v1/people', {
    plan: 'team',
    viaWriter: true,
    summary: 'Invite a person by e-mail address',
    text: 'Invites a person. The first sign-in with this address, verified by the identity provider, makes the person active; from then on the issuer and its subject identify the person. No e-mail is sent.',
    problems: ['person_exists', 'too_many_people'],
    body: PersonInput,
    ok: Person,
    status: 201,
    sends: ['Location'],
  }),
  changePerson: endpoint('PATCH /v1/people/{id}', {
    plan: 'team',
    viaWriter: true,
    summary: 'Update the name, role or status of a person',
    text: 'Changes a person. A new role or `disabled` ends the sessions of the person on every process before the response.',
    problems: ['person_not_found', 'last_admin', 'role_managed'],
    params: Id,
    body: PersonChange,
    ok: Person,
  }),
  removePerson: endpoint('DELETE /v1/people/{id}', {
    whileSuspended: true,
    plan: 'team',
    viaWriter: true,
    summary: 'Remove a person and end the sessions of the person',
    text: 'Removes a person and ends their sessions before the response. Their votes and entries remain.',
    problems: ['person_not_found', 'last_admin'],
    params: Id,
  }),
}
