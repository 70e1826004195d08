import { applyMapping } from '@remit/sdk'
import type { Mapped, ToolMapping } from '@remit/sdk'
import { NotAMessage } from '../rpc/message.ts'
import type { Request } from '../rpc/message.ts'
import type { Members } from '../rpc/members.ts'
import type { Coaz } from '../mapping/coaz.ts'
import { mapsTarget } from '../mapping/target.ts'
import { CODES } from '../rpc/answers.ts'

/** Action and resource of a decided request, by the default mapping of the AuthZEN binding for MCP. */
export interface Question {
  readonly method: 'tools/call' | 'resources/read' | 'prompts/get'
  readonly type: 'tool' | 'resource' | 'prompt'
  readonly name: string
  readonly args: unknown
}

const TARGETS = {
  'tools/call': { type: 'tool', member: 'name' },
  'resources/read': { type: 'resource', member: 'uri' },
  'prompts/get': { type: 'prompt', member: 'name' },
} as const

const isDecided = (method: string): method is Question['method'] => Object.hasOwn(TARGETS, method)

/** The question about a request; null for one that is forwarded without a decision. */
export function questionOf({ id, method, params }: Request): Question | null {
  if (!isDecided(method)) return null
  const { type, member } = TARGETS[method]
  const name = params[member]
  if (typeof name !== 'string' || name === '')
    throw new NotAMessage(CODES.invalidParams, `params.${member}: must be a text.`, id)
  return { method, type, name, args: params['arguments'] ?? {} }
}

/** Facts of a session that rules can read in `context`. */
export interface SessionFacts extends Members {
  readonly upstream: string
  readonly session_id: string
  readonly guard: { readonly flagged: boolean; readonly reasons: readonly string[] }
  /** The person of an inbound OAuth token. */
  readonly acting_for?: string
}

/** How a tool is mapped. */
export interface GatewayMapping extends ToolMapping {
  /** A mapping of AuthZEN, in the place of action and resource. */
  readonly authzen?: Coaz
}

/** Input of a call, as the gateway passes it to the gate. */
export interface GatewayInput {
  readonly question: Question
  readonly facts: SessionFacts
  /** The mapping that the tool declares, where an administrator has pinned it. */
  readonly declared: Coaz | null
}

/** The authorization request for a question. A mapping replaces action and resource. */
export async function mapped(
  mappings: Readonly<Record<string, GatewayMapping>>,
  agentId: string | undefined,
  { question: { method, type, name, args }, facts, declared }: GatewayInput,
): Promise<Mapped> {
  const own = type === 'tool' && Object.hasOwn(mappings, name) ? (mappings[name] ?? {}) : {}
  const made = await applyMapping(own, name, args)
  const subject = facts.acting_for ?? agentId
  const token = {
    ...(subject !== undefined && { sub: subject }),
    ...(agentId !== undefined && { client_id: agentId }),
  }
  const authzen = own.authzen ?? (mapsTarget(own) ? null : declared)
  // Arguments that Remit must not see are not there for a mapping either.
  const asked = authzen?.({ params: { name, arguments: made.context['args'] }, token })
  return {
    action: asked?.action ?? own.action ?? method,
    resource: asked?.resource ?? made.resource ?? { type, id: name },
    // A mapping cannot override the facts of the gateway.
    context: { ...asked?.context, ...made.context, ...facts },
  }
}
