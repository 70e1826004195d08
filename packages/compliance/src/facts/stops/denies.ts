import { matchesAll, matchesPattern } from '@remit/contract/patterns'
import type { FactEntry } from '../entry.ts'
import { ByAgent } from '../state/by-agent.ts'
import { isOpen } from '../state/permissions.ts'
import type { PermissionState } from '../state/permissions.ts'
import type { FactState } from '../state/state.ts'

/** Finds the denial that an allow violates. */
export class Denies {
  #version = -1
  #denies = new ByAgent([])

  /** Returns the unconditional denial that matches the request of an entry; null if none. */
  against(entry: FactEntry, state: FactState): PermissionState | null {
    const { agent_id: id, action, resource, time } = entry
    if (state.denies.size === 0 || id === null || action === null) return null
    if (state.deniesVersion !== this.#version) {
      this.#version = state.deniesVersion
      this.#denies = new ByAgent(state.denies.values())
    }
    const isAgainst = (deny: PermissionState) =>
      !deny.isConditional && isOpen(deny, time) && isAbout(deny, action, resource)
    return this.#denies.of(id).find(isAgainst) ?? null
  }
}

/** Matches as decisions do: a request without a resource matches patterns that match everything. */
const isAbout = (
  { actions, resources }: PermissionState,
  action: string,
  resource: string | null,
): boolean =>
  actions.some((pattern) => matchesPattern(pattern, action)) &&
  resources.some((pattern) =>
    resource === null ? matchesAll(pattern) : matchesPattern(pattern, resource),
  )
