import { describe, expect, it } from 'vitest'
import { AgentHistory } from './agent-history.ts'

/** An entry that tells of an agent in an environment. */
const entry = (seq: number, agent_id: string, environment: string, kind = 'agent.updated') => ({
  seq,
  kind,
  agent_id,
  payload: JSON.stringify({ data: { agent: { agent_id, environment, labels: {} } } }),
})
const erased = (seq: number, agent_id: string | null) => ({
  seq,
  kind: 'agent.updated',
  agent_id,
  payload: null,
})

/** The environments of a and b after all entries; null if unknown. */
function environments(...entries: Parameters<AgentHistory['entry']>[0][]) {
  const agents = new AgentHistory()
  for (const one of entries) agents.entry(one)
  return ['a', 'b'].map((id) => {
    const facts = agents.of(id)
    return facts && facts['environment']
  })
}

describe('agents as they were', () => {
  it('are as in the last entry about them', () => {
    expect(environments(entry(1, 'a', 'test'), entry(2, 'b', 'x'), entry(3, 'a', 'prod'))).toEqual([
      'prod',
      'x',
    ])
  })

  it('have no attributes where they were not registered', () => {
    expect(new AgentHistory().of('a')).toEqual({})
    const stopped = { ...entry(1, 'a', ''), kind: 'agent.suspended', payload: '{"data":{}}' }
    expect(environments(stopped)).toEqual([undefined, undefined])
  })

  it('are unknown from an erased entry on, until the next one', () => {
    expect(environments(entry(1, 'a', 'test'), erased(2, 'a'))).toEqual([null, undefined])
    expect(environments(erased(1, 'a'), entry(2, 'a', 'prod'))).toEqual(['prod', undefined])
  })

  it('are all unknown after an erased entry that does not say whose it was', () => {
    const before = [entry(1, 'a', 'test'), erased(2, null)]
    expect(environments(...before)).toEqual([null, null])
    expect(environments(...before, entry(3, 'a', 'prod'))).toEqual(['prod', null])
  })

  it('are unknown after an entry that the server did not write', () => {
    expect(environments({ ...entry(1, 'a', 'x'), payload: '{' })).toEqual([null, undefined])
  })

  it('ignore entries of other kinds', () => {
    expect(environments(entry(1, 'a', 'x', 'agent_mode.set'))).toEqual([undefined, undefined])
  })
})
