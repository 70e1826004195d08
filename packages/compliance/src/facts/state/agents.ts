import type { Owner } from '@remit/contract'
import type { FactEntry } from '../entry.ts'
import { recordIn, recordsIn, textIn, textsIn } from '../recorded-json.ts'
import { endCredentials } from './credentials.ts'
import { recordedObject } from './reducer.ts'
import type { Reducers, RecordedObject } from './reducer.ts'
import type { FactState } from './state.ts'

/** A registered agent. Removed agents are kept: their ids are never reused. */
export interface AgentState extends RecordedObject {
  readonly owners: readonly Owner[]
  readonly removed: { readonly seq: number; readonly time: number } | null
}

/** The reason and start of a stop. A removal is final. */
export interface StopState {
  readonly agentId: string
  readonly cause: 'suspended' | 'removed'
  readonly seq: number
  readonly time: number
}

function keepAgent(state: FactState, entry: FactEntry): void {
  const object = recordIn(entry.data, 'agent')
  const id = object && textIn(object, 'agent_id')
  if (!object || id === null) return
  const before = state.agents.get(id)
  const owners = recordsIn(object, 'owners') as unknown as Owner[]
  state.agents.set(id, { ...recordedObject(id, object, entry, before), owners, removed: null })
  // An agent that was stopped before its registration stays stopped.
  if (textIn(object, 'status') === 'suspended') stop(state, entry, id, 'suspended')
  else lift(state, id)
}

const idOf = ({ agent_id, data }: FactEntry): string | null => agent_id ?? textIn(data, 'agent_id')

function stop(
  state: FactState,
  { seq, time }: FactEntry,
  agentId: string,
  cause: StopState['cause'],
) {
  const before = state.stops.get(agentId)
  if (before?.cause === cause) return
  state.stops.set(agentId, { agentId, cause, seq, time })
}

function lift(state: FactState, agentId: string): void {
  if (state.stops.get(agentId)?.cause === 'suspended') state.stops.delete(agentId)
}

export const agentReducers: Reducers = {
  'agent.registered': keepAgent,
  'agent.updated': keepAgent,
  'agent.suspended': (state, entry) => {
    keepAgent(state, entry)
    const id = idOf(entry)
    if (id !== null) stop(state, entry, id, 'suspended')
  },
  'agent.resumed': (state, entry) => {
    keepAgent(state, entry)
    const id = idOf(entry)
    if (id !== null) lift(state, id)
  },
  'agent.removed': (state, entry) => {
    const id = idOf(entry)
    if (id === null) return
    const { seq, time, data } = entry
    const agent = state.agents.get(id)
    if (agent) state.agents.set(id, { ...agent, removed: { seq, time } })
    stop(state, entry, id, 'removed')
    endCredentials(state, entry, textsIn(data, 'revoked_credentials'))
  },
  'agent_mode.set': (state, entry) => {
    const id = idOf(entry)
    const mode = textIn(entry.data, 'mode')
    if (id !== null && mode !== null) state.modes.set(id, mode)
  },
}
