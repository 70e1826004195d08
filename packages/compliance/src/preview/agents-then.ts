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

/** An entry of one of these kinds; its payload is null once erased. */
export interface AgentEntry {
  readonly seq: number
  readonly agent_id: string | null
  readonly payload: string | null
}

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
  /** Nothing is known that was said before this number: it was erased or pruned. */
  #doubtedBefore: number

  /** `firstSeq`: the first entry that is kept. */
  constructor(firstSeq: number) {
    this.#doubtedBefore = firstSeq
  }

  entry({ seq, agent_id: agentId, payload }: AgentEntry): void {
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
