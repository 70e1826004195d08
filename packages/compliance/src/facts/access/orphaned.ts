import { hoursText } from '../days.ts'
import type { FactEntry } from '../entry.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { HOUR } from '../report-query.ts'
import { textIn } from '../recorded-json.ts'
import { isLive } from '../state/credentials.ts'
import type { CredentialState } from '../state/credentials.ts'
import { isRelaxed } from '../thresholds.ts'
import { revokedCredentials } from './revoked-credentials.ts'

interface Orphan {
  readonly agentId: string
  readonly removedAt: number
  readonly credential: CredentialState
}

const agentOf = ({ agent_id, data }: FactEntry): string | null =>
  agent_id ?? textIn(data, 'agent_id')

/**
 * M32: credentials that outlived their agent: alive at the end of the period, or ended in it too
 * long after the removal of the agent.
 */
export const orphanedMeter: CreateMeter = ({ question, seqsOf }) => {
  const { from, to, thresholds } = question
  const allowed = thresholds.revocation_delay_hours * HOUR
  const outlived = seqsOf('ACC-4')
  const orphans = new Map<string, Orphan>()
  const removed = new Set<string>()
  let longest = 0
  /** The entry that ended the last credential that outlived its agent. */
  let endingSeq: number | null = null

  function end({ agentId, removedAt, credential }: Orphan, time: number, by: number | null): void {
    if (time < from) return
    removed.add(agentId)
    const delay = time - removedAt
    if (delay > longest) longest = delay
    if (delay <= allowed) return
    outlived.add(credential.seq)
    endingSeq = by ?? credential.seq
  }

  return {
    reads: ['agent.removed', 'credential.revoked', 'issuer.removed'],
    since: -Infinity,
    entry(entry, state, inPeriod) {
      const ended = revokedCredentials(entry, state)
      for (const { id } of ended) {
        const orphan = orphans.get(id)
        if (!orphan) continue
        end(orphan, Math.min(entry.time, orphan.credential.expiresAt ?? Infinity), entry.seq)
        orphans.delete(id)
      }
      if (entry.kind !== 'agent.removed') return
      const agentId = agentOf(entry)
      if (agentId === null) return
      if (inPeriod) removed.add(agentId)
      const gone = new Set(ended)
      for (const one of state.credentials.values()) {
        if (one.agentId !== agentId || gone.has(one) || !isLive(one, entry.time)) continue
        orphans.set(one.id, { agentId, removedAt: entry.time, credential: one })
      }
    },
    end(state) {
      const alive = new Set<string>()
      for (const one of state.credentials.values()) {
        if (!isLive(one, to) || !state.agents.get(one.agentId)?.removed) continue
        alive.add(one.id)
        removed.add(one.agentId)
        outlived.add(one.seq)
      }
      for (const orphan of orphans.values()) {
        const { id, expiresAt } = orphan.credential
        if (!alive.has(id) && expiresAt !== null) end(orphan, expiresAt, null)
      }
      return {
        metrics: [
          {
            id: 'M32',
            value: { orphaned: alive.size, longest_delay_hours: hoursText(longest) },
            population: removed.size,
          },
        ],
        checks: [
          outcome({
            check: 'ACC-4',
            population: removed.size,
            value: { orphaned: alive.size, longest_delay_hours: hoursText(longest) },
            threshold: `none alive after its agent, and none ended more than ${thresholds.revocation_delay_hours} hours later`,
            relaxed: isRelaxed(thresholds, 'revocation_delay_hours'),
            failures: failing(outlived, undefined, alive.size === 0 ? endingSeq : null),
          }),
        ],
      }
    },
  }
}
