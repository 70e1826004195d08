import type { Agent } from '@remit/contract'
import { agentFacts } from '@remit/core'

type Attributes = Readonly<Record<string, unknown>>

/** Kinds of entries that have the whole agent. */
export const AGENT_KINDS = [
  'agent.registered',
  'agent.updated',
  'agent.suspended',
  'agent.resumed',
  'agent.removed',
] as const

/** An entry as it stands, or as a pruning carried it over. Its payload is null once erased. */
export interface AgentEntry {
  readonly seq: number
  readonly kind: string
  readonly agent_id?: string | null
  readonly payload: string | null
}

const KINDS: ReadonlySet<string> = new Set(AGENT_KINDS)
const NONE: Attributes = {}

/**
 * What conditions read as `agent`, as it was when a decision was made: the ledger tells every change of
 * an agent with the whole of it, so decisions need not repeat it. Entries come in order.
 */
export class AgentsThen {
  readonly #attributes = new Map<
    string,
    { readonly seq: number; readonly facts: Attributes | null }
  >()
  /** What was said before this number may have been changed by an entry that was erased. */
  #doubtedBefore = 0

  /** Entries of other kinds say nothing here. */
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

  /** Null where nobody knows; without attributes where the agent was not registered. */
  of(agentId: string): Attributes | null {
    const known = this.#attributes.get(agentId)
    if (known) return known.seq >= this.#doubtedBefore ? known.facts : null
    return this.#doubtedBefore === 0 ? NONE : null
  }
}

/** The agent of an entry; undefined where the entry has none, null for a text that the server did not write. */
function agentIn(payload: string): Agent | undefined | null {
  try {
    const { data } = JSON.parse(payload) as { data: { agent?: Agent } }
    return data.agent
  } catch {
    return null
  }
}
