import type { Agent } from '@remit/contract'
import { agentFacts } from '@remit/core/decision'

type Attributes = Readonly<Record<string, unknown>>

/** Entry kinds that contain the whole agent. */
export const AGENT_KINDS = [
  'agent.registered',
  'agent.updated',
  'agent.suspended',
  'agent.resumed',
  'agent.removed',
] as const

/** An entry as stored or as carried over by a pruning. Its payload is null once erased. */
export interface AgentEntry {
  readonly seq: number
  readonly kind: string
  readonly agent_id?: string | null
  readonly payload: string | null
}

const KINDS: ReadonlySet<string> = new Set(AGENT_KINDS)
const NONE: Attributes = {}

/**
 * The attributes that conditions read as `agent`, at the time of a decision. The ledger records
 * every change of an agent with the whole agent, so decisions need not repeat it. Entries must be
 * in order.
 */
export class AgentHistory {
  readonly #attributes = new Map<
    string,
    { readonly seq: number; readonly facts: Attributes | null }
  >()
  /** Agents recorded before this number may have been changed by an erased entry. */
  #doubtedBefore = 0

  /** Adds an entry; other kinds are ignored. */
  entry({ seq, kind, agent_id: agentId = null, payload }: AgentEntry): void {
    if (!KINDS.has(kind)) return
    const said = payload === null ? null : agentIn(payload)
    if (said === null) {
      if (agentId === null) this.#doubtedBefore = seq + 1
      else this.#attributes.set(agentId, { seq, facts: null })
      return
    }
    if (said) this.#attributes.set(said.agent_id, { seq, facts: agentFacts(said) })
  }

  /** Returns null if the agent is unknown, and no attributes if it was not registered. */
  of(agentId: string): Attributes | null {
    const known = this.#attributes.get(agentId)
    if (known) return known.seq >= this.#doubtedBefore ? known.facts : null
    return this.#doubtedBefore === 0 ? NONE : null
  }
}

/**
 * The agent of an entry; undefined if the entry has none, null for text that the server did not
 * write.
 */
function agentIn(payload: string): Agent | undefined | null {
  try {
    const { data } = JSON.parse(payload) as { data: { agent?: Agent } }
    return data.agent
  } catch {
    return null
  }
}
