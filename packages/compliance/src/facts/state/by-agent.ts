import { matchesPattern } from '@remit/contract/patterns'
import type { PermissionState } from './permissions.ts'

const MOST_AGENTS = 10_000

/** Permissions by agent, built once and read for every decision. */
export class ByAgent {
  readonly #exact = new Map<string, PermissionState[]>()
  readonly #patterns: PermissionState[] = []
  readonly #known = new Map<string, readonly PermissionState[]>()

  constructor(permissions: Iterable<PermissionState>) {
    for (const one of permissions) {
      const same = this.#exact.get(one.agentId)
      if (one.agentId.includes('*')) this.#patterns.push(one)
      else if (same) same.push(one)
      else this.#exact.set(one.agentId, [one])
    }
  }

  of(agentId: string): readonly PermissionState[] {
    const exact = this.#exact.get(agentId) ?? NONE
    if (this.#patterns.length === 0) return exact
    const known = this.#known.get(agentId)
    if (known) return known
    const all = [...exact, ...this.#patterns.filter((one) => matchesPattern(one.agentId, agentId))]
    if (this.#known.size < MOST_AGENTS) this.#known.set(agentId, all)
    return all
  }
}

const NONE: readonly PermissionState[] = []
