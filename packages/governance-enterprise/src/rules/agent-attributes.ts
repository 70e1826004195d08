import type { Ask } from '@remit/core/decision'
import type { Roster } from '../agents/state.ts'

type Attributes = Readonly<Record<string, unknown>>

const NONE: Attributes = {}
const known = new WeakMap<Ask, Attributes>()

/** Adds the registry's attributes of a request's agent, before conditions are evaluated. */
export function addAgentAttributes(ask: Ask, { registry }: Pick<Roster, 'registry'>): void {
  const agent = registry.get(ask.request.agent_id)
  if (agent) known.set(ask, agent.attributes)
}

/** Adds recorded attributes of a request's agent. */
export const setAgentAttributes = (ask: Ask, attributes: Attributes): void =>
  void known.set(ask, attributes)

/** The attributes that conditions read as `agent`; an unregistered agent has none. */
export const attributesOf = (ask: Ask): Attributes => known.get(ask) ?? NONE
