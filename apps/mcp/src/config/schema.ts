import { z } from 'zod'

/** A text, or where it is read from when the gateway starts. */
const Value = z
  .union(
    [
      z.string(),
      z.strictObject({ env: z.string().min(1) }).describe('The variable that has it'),
      z.strictObject({ file: z.string().min(1) }).describe('The file that has it'),
    ],
    { error: 'must be a text, {"env": "NAME"} or {"file": "PATH"}' },
  )
  .meta({ id: 'Value' })
export type Value = z.infer<typeof Value>

export const Command = z.strictObject({
  command: z.string().min(1).describe('The program of a server on stdio'),
  args: z.array(z.string()).default([]),
  env: z
    .record(z.string(), Value)
    .default({})
    .describe('Its environment, in addition to the variables that every program needs'),
  cwd: z.string().min(1).optional().describe('Its working folder'),
})

export const Remote = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .describe('The MCP endpoint of a server on streamable HTTP'),
  headers: z
    .record(z.string(), Value)
    .default({})
    .describe('Sent with each request, such as its secret'),
})

/** `ToolMapping` of `@remit/sdk`. */
export const Mapping = z
  .strictObject({
    action: z.string().min(1).optional().describe('Default: `tools/call`'),
    resource: z
      .string()
      .min(1)
      .optional()
      .describe('Such as `invoice:{/invoice_id}`, `file:{/path}` or `url:{/url}`'),
    amount: z.string().startsWith('/').optional().describe('JSON Pointer to the amount in USD'),
    omit: z
      .array(z.string().startsWith('/'))
      .optional()
      .describe('Arguments that Remit must not see'),
    authzen: z
      .looseObject({})
      .optional()
      .describe('A mapping as `x-authzen-mapping` has it, in the place of action and resource'),
  })
  .refine(
    ({ authzen, action, resource }) =>
      authzen === undefined || (action === undefined && resource === undefined),
    'must have either authzen or action and resource',
  )

const whole = (min: number, max: number, fallback: number) =>
  z.int().min(min).max(max).default(fallback)

const Limits = z.strictObject({
  body_bytes: whole(1_024, 64 * 1024 * 1024, 4 * 1024 * 1024).describe('Of one request'),
  sessions: whole(1, 10_000, 256).describe('Of all clients and servers together'),
  streams: whole(1, 100_000, 1_024).describe('Requests and event streams at once'),
  idle_seconds: whole(1, 86_400, 1_800).describe('After which an unused session or server ends'),
  keep_alive_seconds: whole(1, 86_400, 620).describe(
    'After which an unused connection ends; longer than that of the balancer in front of it',
  ),
})

export const GatewayConfig = z
  .strictObject({
    $schema: z.string().optional(),
    listen: z
      .string()
      .regex(/^(\[[0-9a-f:]+\]|[^:\s]+):\d{1,5}$/i, 'must be HOST:PORT')
      .default('127.0.0.1:8090'),
    public_url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .optional()
      .describe(
        'The address at which clients reach the gateway; required unless it listens on loopback',
      ),
    agent: z.string().min(1).max(256).optional().describe('The agent of calls with an ingest key'),
    trust: z.enum(['pinned', 'first-use']).default('pinned'),
    deny: z.enum(['result', 'error']).default('result'),
    unknown: z.enum(['refuse', 'forward']).default('refuse'),
    results: z.enum(['off', 'note', 'withhold']).default('note'),
    hold_seconds: z.number().min(0).max(600).default(50),
    drop_meta: z
      .array(z.string().min(1))
      .default([])
      .describe('Members of `_meta` that differ between attempts of a call; no server gets them'),
    oauth: z
      .strictObject({ authorization_servers: z.array(z.url()).min(1) })
      .optional()
      .describe('Issuers of tokens for this gateway, which Remit trusts'),
    allowed_origins: z
      .array(z.string().min(1))
      .default([])
      .describe('Accepted values of the header Origin, in addition to the own one'),
    limits: Limits.prefault({}),
    map: z.record(z.string(), Mapping).default({}).describe('The requests of tools, by name'),
    map_file: z.string().min(1).optional().describe('A file with further members of `map`'),
    upstreams: z
      .record(
        z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be letters, digits and ._-'),
        z.union([Command, Remote]),
      )
      .refine((all) => Object.keys(all).length > 0, 'must name at least one server')
      .describe('The servers by name; each is at `/mcp/<name>`'),
  })
  .meta({ id: 'GatewayConfig' })
export type GatewayConfig = z.infer<typeof GatewayConfig>
