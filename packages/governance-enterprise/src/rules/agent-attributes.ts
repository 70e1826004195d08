import type { Ask } from '@remit/core'
import type { Roster } from '../agents/state.ts'

type Attributes = Readonly<Record<string, unknown>>

const NONE: Attributes = {}
const known = new WeakMap<Ask, Attributes>()

/** Tells what the registry says of the agent of each request; before any condition is evaluated. */
export function introduce(asks: readonly Ask[], { registry }: Pick<Roster, 'registry'>): void {
  if (registry.size === 0) return
  for (const ask of asks) {
    const agent = registry.get(ask.request.agent_id)
    if (agent) known.set(ask, agent.attributes)
  }
}

/** Tells what was recorded of the agent of a request. */
export const introduceOne = (ask: Ask, attributes: Attributes): void =>
  void known.set(ask, attributes)

/** What conditions read as `agent`; an agent that is not registered has no attributes. */
export const attributesOf = (ask: Ask): Attributes => known.get(ask) ?? NONE
