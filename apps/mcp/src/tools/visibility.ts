import { matchesPattern } from '@remit/contract/patterns'
import type { Client } from '@remit/contract/client'
import type { ToolMapping } from '@remit/sdk'
import { mapsTarget } from '../mapping/coaz.ts'

const MAX_AGE_MS = 30_000

type Effective = Awaited<ReturnType<Client['getEffectivePermissions']>>

export interface VisibilityOptions {
  readonly client: Client
  /** Undefined: the agent of the credential. */
  readonly agentId: string | undefined
  readonly mappings: Readonly<Record<string, ToolMapping & { readonly authzen?: unknown }>>
}

/**
 * States which tools an agent sees: all but those that its permissions deny for all arguments. It
 * only shortens the list; each call is decided, so that a failure to read permissions hides nothing.
 */
export class Visibility {
  readonly #options: VisibilityOptions
  #effective: Promise<Effective | null> = Promise.resolve(null)
  #readAt = -Infinity

  constructor(options: VisibilityOptions) {
    this.#options = options
  }

  async isVisible(tool: string, isDeclared = false): Promise<boolean> {
    const mapping = this.#options.mappings[tool] ?? {}
    // A resource that depends on the arguments is not known yet.
    if (mapping.resource !== undefined || mapping.authzen !== undefined) return true
    if (isDeclared && !mapsTarget(mapping)) return true
    const effective = await this.#read()
    return (
      effective === null || !isDenied(effective, mapping.action ?? 'tools/call', `tool:${tool}`)
    )
  }

  #read(): Promise<Effective | null> {
    const { client, agentId } = this.#options
    if (Date.now() - this.#readAt > MAX_AGE_MS) {
      this.#readAt = Date.now()
      this.#effective = client
        .getEffectivePermissions({ query: agentId === undefined ? {} : { agent_id: agentId } })
        .catch(() => null)
    }
    return this.#effective
  }
}

interface Patterns {
  readonly actions: readonly string[]
  readonly resources: readonly string[]
}

/** Returns true if no arguments could make the call pass the permissions. Pure. */
export function isDenied(effective: Effective, action: string, resource: string): boolean {
  const matches = ({ actions, resources }: Patterns) =>
    actions.some((pattern) => matchesPattern(pattern, action)) &&
    resources.some((pattern) => matchesPattern(pattern, resource))
  const { state, mode, denies, grants } = effective
  if (state !== 'active') return true
  const now = Date.parse(effective.at)
  const isInForce = ({ not_before: from }: { not_before: string | null }) =>
    from === null || Date.parse(from) <= now
  if (denies.some((deny) => deny.condition === null && isInForce(deny) && matches(deny)))
    return true
  return mode === 'granted' && !grants.some((grant) => grant.partial || matches(grant))
}
