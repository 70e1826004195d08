import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { recordIn, textIn } from '../recorded-json.ts'
import type { FactState } from '../state/state.ts'
import { revokedCredentials } from './revoked-credentials.ts'

/** M33: credentials for agents that were not registered. */
export const unregisteredMeter: CreateMeter = ({ seqsOf }) => {
  const early = seqsOf('ACC-5')
  /** The agent of each such credential, until the credential ends. */
  const open = new Map<string, string>()
  let endingSeq: number | null = null
  let issued = 0
  return {
    reads: ['credential.*', 'agent.removed', 'issuer.removed'],
    entry(entry, state) {
      const { kind, seq, erased, agent_id, data } = entry
      if (erased) return
      if (kind !== 'credential.issued' && kind !== 'credential.rotated') {
        for (const { id } of revokedCredentials(entry, state)) if (open.delete(id)) endingSeq = seq
        return
      }
      issued += 1
      const credential = recordIn(data, 'credential') ?? {}
      const agentId = textIn(credential, 'agent_id') ?? agent_id
      const isKnown = agentId !== null && state.agents.has(agentId)
      // The registration entry may have been erased.
      if (isKnown || state.lost('agent.registered') > 0) return
      early.add(seq)
      open.set(textIn(credential, 'id') ?? '', agentId ?? '')
    },
    end: (state) => ({
      metrics: [{ id: 'M33', value: early.count, population: issued }],
      checks: [
        outcome({
          check: 'ACC-5',
          population: issued,
          value: { count: early.count },
          failures: failing(early, undefined, mendedBy(open.values(), endingSeq, state)),
        }),
      ],
    }),
  }
}

/** The last registration or revocation that corrected these credentials; null while one remains. */
function mendedBy(
  open: Iterable<string>,
  endingSeq: number | null,
  { agents }: FactState,
): number | null {
  let last = endingSeq
  for (const agentId of open) {
    const agent = agents.get(agentId)
    if (!agent) return null
    last = Math.max(last ?? 0, agent.seq)
  }
  return last
}
