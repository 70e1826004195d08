import { isId, isMembers } from './members.ts'
import type { Members } from './members.ts'

type Params = { readonly params: Members }

/** `modern` is revision 2026-07-28 and later: without sessions, with an envelope in each request. */
export type Era = 'legacy' | 'modern'

const META = 'io.modelcontextprotocol/'
const PROTOCOL_VERSION = `${META}protocolVersion`
const CLIENT_CAPABILITIES = `${META}clientCapabilities`
/** Members of `_meta` that are the envelope of a request, or name the server of a result. */
export const META_KEYS = {
  protocolVersion: PROTOCOL_VERSION,
  clientCapabilities: CLIENT_CAPABILITIES,
  clientInfo: `${META}clientInfo`,
  logLevel: `${META}logLevel`,
  serverInfo: `${META}serverInfo`,
} as const
const TASKS = `${META}tasks`

/** Methods that either revision defines for clients, or that their tasks extensions do. */
const SHARED = [
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'tasks/get',
  'tasks/cancel',
]

const METHODS: Readonly<Record<Era, ReadonlySet<string>>> = {
  legacy: new Set([
    ...SHARED,
    'initialize',
    'ping',
    'resources/subscribe',
    'resources/unsubscribe',
    'logging/setLevel',
    'tasks/result',
    'tasks/list',
  ]),
  modern: new Set([...SHARED, 'server/discover', 'subscriptions/listen', 'tasks/update']),
}

export const isKnownMethod = (era: Era, method: string): boolean => METHODS[era].has(method)

export const metaOf = ({ _meta: meta }: Members): Members => (isMembers(meta) ? meta : {})

/** `true` in `_meta` of a request asks the gateway for the budgets, which `_meta` of the result then has. */
export const BUDGETS = 'io.remit/budgets'

/** Members of `_meta` that no server gets: hosts change some with each attempt of a call, one is for the gateway. */
const NOT_PASSED = new Set(['tracestate', 'claudecode/toolUseId', BUDGETS])
const TRACE_PARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
const ENVELOPE: ReadonlySet<string> = new Set([
  META_KEYS.protocolVersion,
  META_KEYS.clientCapabilities,
  META_KEYS.clientInfo,
  META_KEYS.logLevel,
])

/** The members of `_meta` that a server gets. Pure. */
export const passedMeta = (meta: Members, dropped: readonly string[]): Members =>
  Object.fromEntries(
    Object.entries(meta).filter(([name, value]) =>
      name === 'traceparent'
        ? typeof value === 'string' && TRACE_PARENT.test(value)
        : !NOT_PASSED.has(name) && !dropped.includes(name),
    ),
  )

/** The members that belong to a call: neither its envelope nor the ids of an attempt. Pure. */
export const callMeta = (meta: Members): Members =>
  Object.fromEntries(
    Object.entries(meta).filter(
      ([name, value]) =>
        !ENVELOPE.has(name) &&
        name !== 'traceparent' &&
        // Whatever else it is, it is no token.
        !(name === 'progressToken' && isId(value)),
    ),
  )

export const eraOf = ({ params }: Params): Era =>
  metaOf(params)[PROTOCOL_VERSION] === undefined ? 'legacy' : 'modern'

/** The revision in the envelope of a request. */
export function versionOf({ params }: Params): string | undefined {
  const version = metaOf(params)[PROTOCOL_VERSION]
  return typeof version === 'string' ? version : undefined
}

/** The member that the header `Mcp-Name` mirrors, by method. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

export function nameOf({
  method,
  params,
}: Params & { readonly method: string }): string | undefined {
  const name = params[NAMED_BY.get(method) ?? '']
  return typeof name === 'string' ? name : undefined
}

/** Tells that a resource has changed, to those who subscribed to it. */
export const UPDATED = 'notifications/resources/updated'
export const SUBSCRIPTION_ID = `${META}subscriptionId`

/** The capabilities that a client declared, as far as an approval depends on them. */
export interface Abilities {
  readonly tasks: boolean
  readonly urlElicitation: boolean
}

export const NO_ABILITIES: Abilities = { tasks: false, urlElicitation: false }

/** The abilities in the envelope of a request. */
export const abilitiesIn = ({ params }: Params): Abilities =>
  abilitiesOf(metaOf(params)[CLIENT_CAPABILITIES])

/** The abilities in `capabilities` of `initialize`; tasks of 2025-11-25 are not offered. */
export const initialAbilities = ({ params }: Params): Abilities => ({
  ...abilitiesOf(params['capabilities']),
  tasks: false,
})

function abilitiesOf(capabilities: unknown): Abilities {
  if (!isMembers(capabilities)) return NO_ABILITIES
  const { elicitation, extensions } = capabilities
  return {
    tasks: isMembers(extensions) && isMembers(extensions[TASKS]),
    urlElicitation: isMembers(elicitation) && isMembers(elicitation['url']),
  }
}
