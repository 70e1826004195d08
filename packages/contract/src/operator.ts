import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Organization, LimitsChange } from './organization.ts'
import { page, PathId, Plan, Timestamp, Paging } from './primitives.ts'
import { Usage } from './stats.ts'

const Reason = z
  .string()
  .regex(/^[^\p{Cc}]{1,500}$/u, 'must be one line of 1 to 500 characters')
  .describe('Reason, for the ledger of the organization')

const NewOrganization = z.strictObject({
  name: z.string().describe('Unique name of the organization'),
  plan: Plan.optional().describe('Default: the plan of new organizations'),
  limits: LimitsChange.optional(),
})

const CreatedOrganization = z.object({
  organization: Organization,
  key: z.object({
    id: z.string(),
    role: z.literal('admin'),
    secret: z.string().describe('The first admin key, which is shown once'),
  }),
})

/** An organization, and the end of its ledger, which stays. */
const Deletion = z.object({
  id: z.string(),
  deleted_at: Timestamp,
  ledger: z.object({
    origin: z.string(),
    size: z.int(),
    entry: z.string().describe('The last entry, `organization.deleted`, as a line of an export'),
    checkpoint: z.string().describe('The checkpoint over all entries'),
  }),
  removed: z.record(z.string(), z.int()).describe('Number of removed rows by table'),
  log_emptied: z.boolean(),
})

const params = z.object({ id: PathId })
const own = { plan: 'open', public: true, operator: true } as const
const PATH = '/v1/operator/organizations'

/**
 * The API of the operator of a server with many organizations. It takes operator keys, is off unless
 * the server has some, and is not part of the API of organizations.
 */
export const operator = {
  listOrganizations: endpoint(`GET ${PATH}`, {
    ...own,
    summary: 'List the organizations, oldest first',
    query: z.strictObject(Paging),
    ok: page(Organization),
  }),
  createOrganization: endpoint(`POST ${PATH}`, {
    ...own,
    summary: 'Create an organization with its ledger and first admin key',
    body: NewOrganization,
    ok: CreatedOrganization,
    status: 201,
  }),
  readOrganization: endpoint(`GET ${PATH}/{id}`, {
    ...own,
    summary: 'Get an organization',
    params,
    ok: Organization,
  }),
  limitOrganization: endpoint(`PATCH ${PATH}/{id}`, {
    ...own,
    summary: 'Change the plan and the limits of an organization',
    params,
    body: z
      .strictObject({ plan: Plan.optional(), limits: LimitsChange.optional() })
      .refine(
        ({ plan, limits }) => plan !== undefined || limits !== undefined,
        'must have plan or limits',
      ),
    ok: Organization,
  }),
  suspendOrganization: endpoint(`POST ${PATH}/{id}/suspend`, {
    ...own,
    summary: 'Suspend an organization',
    params,
    body: z.strictObject({ reason: Reason.optional() }),
    ok: Organization,
  }),
  resumeOrganization: endpoint(`POST ${PATH}/{id}/resume`, {
    ...own,
    summary: 'End the suspension of an organization, and cancel its deletion',
    params,
    ok: Organization,
  }),
  readUsage: endpoint(`GET ${PATH}/{id}/usage`, {
    ...own,
    summary: 'Get the usage of an organization by hour',
    params,
    query: z.strictObject({ from: Timestamp.optional(), to: Timestamp.optional() }),
    ok: Usage,
  }),
  exportLedger: endpoint(`GET ${PATH}/{id}/ledger`, {
    ...own,
    summary: 'Export the ledger of an organization as NDJSON',
    params,
    ok: z.string(),
    produces: 'application/x-ndjson',
  }),
  exportConfiguration: endpoint(`GET ${PATH}/{id}/configuration`, {
    ...own,
    summary: 'Export the configuration and state of an organization as NDJSON, without secrets',
    params,
    ok: z.string(),
    produces: 'application/x-ndjson',
  }),
  scheduleDeletion: endpoint(`POST ${PATH}/{id}/deletion`, {
    ...own,
    summary: 'Schedule the deletion of a suspended organization in seven days',
    params,
    body: z.strictObject({ reason: Reason.optional() }),
    ok: Organization,
  }),
  deleteOrganization: endpoint(`DELETE ${PATH}/{id}`, {
    ...own,
    summary: 'Remove a suspended organization whose deletion is due',
    params,
    query: z.strictObject({
      confirm: z.string().describe('Name of the organization'),
      reason: Reason.optional(),
    }),
    ok: Deletion,
    maxSeconds: 600,
  }),
}
