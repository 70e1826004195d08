import { hash } from 'node:crypto'
import { canonicalJson } from '@remit/contract/json'
import type { FactEntry } from '../entry.ts'
import { recordIn, textIn, textsIn } from '../recorded-json.ts'
import type { RecordedJson } from '../recorded-json.ts'

interface OpenRequest {
  readonly id: string
  readonly action: string | null
  readonly resource: string | null
  /** The context members that are bound; null means all. */
  readonly bound: readonly string[] | null
  readonly facts: string
}

/**
 * Open or refused approval requests, indexed to recognize an allow for the same agent, action,
 * resource and bound context that does not name the request.
 */
export class OpenRequests {
  readonly #byAgent = new Map<string, Map<string, OpenRequest>>()

  /** Adds the request from the entry that opened it. */
  add(entry: FactEntry): void {
    const object = recordIn(entry.data, 'approval')
    const id = object && textIn(object, 'id')
    const agent = entry.agent_id
    if (!object || id === null || agent === null) return
    const bound = Array.isArray(object['binding_context'])
      ? textsIn(object, 'binding_context')
      : null
    const facts = factsOf(recordIn(object, 'context') ?? {}, bound)
    const { action, resource } = entry
    const ofAgent = this.#byAgent.get(agent) ?? new Map<string, OpenRequest>()
    ofAgent.set(id, { id, action, resource, bound, facts })
    this.#byAgent.set(agent, ofAgent)
  }

  /** Removes a request. */
  drop(agentId: string, id: string): void {
    const ofAgent = this.#byAgent.get(agentId)
    if (!ofAgent?.delete(id)) return
    if (ofAgent.size === 0) this.#byAgent.delete(agentId)
  }

  /** The request that an allow without approval bypassed; null if none. */
  passedBy(entry: FactEntry): string | null {
    if (this.#byAgent.size === 0 || entry.agent_id === null) return null
    const { action, resource } = entry
    let facts: { readonly bound: readonly string[] | null; readonly text: string } | null = null
    for (const one of this.#byAgent.get(entry.agent_id)?.values() ?? []) {
      if (one.action !== action || one.resource !== resource) continue
      if (facts === null || !isSame(facts.bound, one.bound))
        facts = {
          bound: one.bound,
          text: factsOf(recordIn(entry.data, 'context') ?? {}, one.bound),
        }
      if (facts.text === one.facts) return one.id
    }
    return null
  }
}

const isSame = (a: readonly string[] | null, b: readonly string[] | null): boolean =>
  JSON.stringify(a) === JSON.stringify(b)

/**
 * Hashes the bound part of a context, since contexts can be large. `approval` is only a reference
 * to an approval.
 */
function factsOf(context: RecordedJson, bound: readonly string[] | null): string {
  const counts = Object.entries(context).filter(
    ([name]) => name !== 'approval' && (bound === null || bound.includes(name)),
  )
  return hash('sha256', canonicalJson(Object.fromEntries(counts)), 'base64url')
}
