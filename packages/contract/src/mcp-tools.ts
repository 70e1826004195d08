import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { component, Name, page, Paging, PathId, strictComponent, Timestamp } from './primitives.ts'

/** Maximum tools per report. */
const MAX_TOOLS = 1_000
const MAX_BYTES = 4 * 1024 * 1024

export const McpToolState = z
  .enum(['seen', 'admitted', 'changed', 'withdrawn'])
  .meta({ id: 'McpToolState' })
export type McpToolState = z.infer<typeof McpToolState>

/** A tool as its server describes it in `tools/list`. */
export const McpToolDefinition = z
  .looseObject({ name: z.string().min(1).max(256), description: z.string().optional() })
  .meta({ id: 'McpToolDefinition' })
export type McpToolDefinition = z.infer<typeof McpToolDefinition>

/** The source of the action and resource of a call. */
export const McpToolMapping = z.enum(['default', 'declared']).meta({ id: 'McpToolMapping' })
export type McpToolMapping = z.infer<typeof McpToolMapping>

const Digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hex digits')
  .describe(
    'SHA-256 of the canonical JSON (RFC 8785) of name, title, description, schemas and annotations',
  )

const McpToolChange = z.object({
  member: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
})

const state = {
  id: z.string(),
  upstream: z.string().describe('Name of the MCP server in the configuration of the gateway'),
  name: z.string(),
  digest: Digest,
  state: McpToolState,
  previous_digest: Digest.nullable().describe('The digest that was admitted before a change'),
  mapping: McpToolMapping.describe(
    'Mapping of the calls: the one by default, or the one that the definition declares, where an administrator has pinned it',
  ),
  findings: z.array(z.string()).describe('Reasons of the guard for the definition'),
  first_seen_at: Timestamp,
  changed_at: Timestamp,
}

export const McpToolStatus = component('McpToolStatus', state)
export type McpToolStatus = z.infer<typeof McpToolStatus>

/** The result of the guard for the texts of a definition. */
export const McpToolVerdict = component('McpToolVerdict', {
  score: z.number().describe('Score of the texts together, from 0 to 1'),
  marked: z
    .array(z.object({ text: z.string(), score: z.number().nullable() }))
    .describe('The texts with findings, shortened; `score` is null for a detector'),
})
export type McpToolVerdict = z.infer<typeof McpToolVerdict>

export const McpTool = component('McpTool', {
  ...state,
  definition: McpToolDefinition,
  declared_mapping: z
    .looseObject({})
    .nullable()
    .describe('`x-authzen-mapping` of the input schema; null if the definition declares none'),
  verdict: McpToolVerdict.nullable().describe('null for a report to an earlier version'),
  review: z
    .object({
      by: z.string().describe('Key or person that reviewed the definition'),
      at: Timestamp.describe('Time of the review'),
    })
    .nullable()
    .describe('The administrator who found the findings of this definition harmless'),
  changes: z.array(McpToolChange),
  ledger: Receipt.optional(),
})
export type McpTool = z.infer<typeof McpTool>

const Id = z.strictObject({ id: PathId })
const deciding = {
  plan: 'team',
  viaWriter: true,
  params: Id,
  ok: McpTool,
} as const

export const mcpTools = {
  listMcpTools: endpoint('GET /v1/mcp/tools', {
    plan: 'team',
    roles: ['read', 'approver', 'ingest'],
    summary: 'List the tools of MCP servers behind the gateway',
    text: 'Lists the tools of MCP servers with their definitions, oldest first. Filters combine.',
    query: z.strictObject({
      ...Paging,
      upstream: Name.optional(),
      state: McpToolState.optional(),
    }),
    ok: page(McpTool),
  }),
  reportMcpTools: endpoint('POST /v1/mcp/tools', {
    plan: 'team',
    roles: ['ingest'],
    scope: 'authorize',
    viaWriter: true,
    maxBodyBytes: MAX_BYTES,
    summary: 'Report the tools that an MCP server offers',
    text: 'Reports what `tools/list` of a server returned. A new tool waits for an administrator, unless the server had none and `trust` is `first-use`. A changed definition withdraws the tool until it is admitted again. A definition that the guard scores 0.99 or higher is never admitted by a report.',
    problems: ['too_many_mcp_tools'],
    body: z
      .strictObject({
        upstream: Name,
        trust: z
          .enum(['pinned', 'first-use'])
          .default('pinned')
          .describe('`first-use` admits the tools of a server that has none yet'),
        tools: z.array(McpToolDefinition).min(1).max(MAX_TOOLS),
      })
      .meta({ id: 'McpToolReport' }),
    ok: z.object({ data: z.array(McpToolStatus).describe('In the order of the report') }),
  }),
  admitMcpTool: endpoint('POST /v1/mcp/tools/{id}/admit', {
    ...deciding,
    summary: 'Admit the current definition of an MCP tool',
    text: 'Admits the definition with this digest. The gateway lets calls pass within 30 seconds. `mapping: "declared"` pins the mapping that the definition declares in `x-authzen-mapping` (AuthZEN binding for MCP): action and resource of its calls come from there, unless the configuration of the gateway has a mapping. A later definition needs a new admission.',
    problems: ['mcp_tool_not_found', 'mcp_tool_changed'],
    body: z
      .strictObject({
        digest: Digest,
        mapping: McpToolMapping.optional().describe(
          '`declared` pins the mapping of the definition. Required if the admission before did so, else `default`',
        ),
      })
      .meta({ id: 'McpToolAdmission' }),
  }),
  reviewMcpTool: endpoint('POST /v1/mcp/tools/{id}/review', {
    ...deciding,
    summary: 'Record that the findings of the current definition are harmless',
    text: 'Records that an administrator looked at the findings of the guard in the definition with this digest and found them harmless. It admits nothing, and a later definition needs a new review.',
    problems: ['mcp_tool_not_found', 'mcp_tool_changed'],
    body: strictComponent('McpToolReview', { digest: Digest }),
  }),
  withdrawMcpTool: endpoint('POST /v1/mcp/tools/{id}/withdraw', {
    ...deciding,
    summary: 'Withdraw an MCP tool',
    text: 'Withdraws a tool. The gateway refuses its calls within 30 seconds.',
    problems: ['mcp_tool_not_found'],
  }),
}
