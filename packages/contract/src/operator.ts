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
const own = { plan: 'open', roles: [], scope: null, public: true, operator: true } as const
const PATH = '/v1/operator/organizations'

/**
 * The API of the operator of a server with many organizations. It takes operator keys, is off unless
 * the server has some, and is not part of the API of organizations.
 */
export const operator = {
  listOrganizations: endpoint({
    ...own,
    method: 'GET',
    path: PATH,
    summary: 'List the organizations, oldest first',
    query: z.strictObject(Paging),
    ok: page(Organization),
    status: 200,
  }),
  createOrganization: endpoint({
    ...own,
    method: 'POST',
    path: PATH,
    summary: 'Create an organization with its ledger and first admin key',
    body: NewOrganization,
    ok: CreatedOrganization,
    status: 201,
  }),
  readOrganization: endpoint({
    ...own,
    method: 'GET',
    path: `${PATH}/{id}`,
    summary: 'Get an organization',
    params,
    ok: Organization,
    status: 200,
  }),
  limitOrganization: endpoint({
    ...own,
    method: 'PATCH',
    path: `${PATH}/{id}`,
    summary: 'Change the plan and the limits of an organization',
    params,
    body: z
      .strictObject({ plan: Plan.optional(), limits: LimitsChange.optional() })
      .refine(
        ({ plan, limits }) => plan !== undefined || limits !== undefined,
        'must have plan or limits',
      ),
    ok: Organization,
    status: 200,
  }),
  suspendOrganization: endpoint({
    ...own,
    method: 'POST',
    path: `${PATH}/{id}/suspend`,
    summary: 'Suspend an organization',
    params,
    body: z.strictObject({ reason: Reason.optional() }),
    ok: Organization,
    status: 200,
  }),
  resumeOrganization: endpoint({
    ...own,
    method: 'POST',
    path: `${PATH}/{id}/resume`,
    summary: 'End the suspension of an organization, and cancel its deletion',
    params,
    ok: Organization,
    status: 200,
  }),
  readUsage: endpoint({
    ...own,
    method: 'GET',
    path: `${PATH}/{id}/usage`,
    summary: 'Get the usage of an organization by hour',
    params,
    query: z.strictObject({ from: Timestamp.optional(), to: Timestamp.optional() }),
    ok: Usage,
    status: 200,
  }),
  exportLedger: endpoint({
    ...own,
    method: 'GET',
    path: `${PATH}/{id}/ledger`,
    summary: 'Export the ledger of an organization as NDJSON',
    params,
    ok: z.string(),
    produces: 'application/x-ndjson',
    status: 200,
  }),
  exportConfiguration: endpoint({
    ...own,
    method: 'GET',
    path: `${PATH}/{id}/configuration`,
    summary: 'Export the configuration and state of an organization as NDJSON, without secrets',
    params,
    ok: z.string(),
    produces: 'application/x-ndjson',
    status: 200,
  }),
  scheduleDeletion: endpoint({
    ...own,
    method: 'POST',
    path: `${PATH}/{id}/deletion`,
    summary: 'Schedule the deletion of a suspended organization in seven days',
    params,
    body: z.strictObject({ reason: Reason.optional() }),
    ok: Organization,
    status: 200,
  }),
  deleteOrganization: endpoint({
    ...own,
    method: 'DELETE',
    path: `${PATH}/{id}`,
    summary: 'Remove a suspended organization whose deletion is due',
    params,
    query: z.strictObject({
      confirm: z.string().describe('Name of the organization'),
      reason: Reason.optional(),
    }),
    ok: Deletion,
    status: 200,
    maxSeconds: 600,
  }),
}
