import { matchesAll, matchesPattern } from '@remit/contract/patterns'
import type { CreateMeter } from './meter.ts'
import { isLive } from './state/agents.ts'
import type { AgentState, CredentialState, PermissionState } from './state/agents.ts'
import type { FactState } from './state/state.ts'
import { DAY, HOUR } from './facts.ts'
import type { CheckThresholds } from './thresholds.ts'
import { isAtMostPercent, metric } from './meter.ts'
import { hoursText } from './moment.ts'
import type { FactEntry } from './entry.ts'

/** Registered agents that were not removed, including suspended ones. */
const presentAgents = ({ agents }: FactState): AgentState[] =>
  [...agents.values()].filter(({ isRemoved }) => !isRemoved)

const isOwned = ({ owners }: AgentState): boolean => owners.some(({ type }) => type === 'user')

/** M26, M27: the registry at the end of the period, and agents without a named owner. */
export const agentsMeter: CreateMeter = ({ seqsOf }) => {
  const unowned = seqsOf('ACC-1')
  let registered = 0
  let removed = 0
  return {
    reads: ['agent.registered', 'agent.removed'],
    entry({ kind, erased }) {
      if (erased) return
      if (kind === 'agent.registered') registered += 1
      else removed += 1
    },
    end(state) {
      const agents = presentAgents(state)
      for (const agent of agents) if (!isOwned(agent)) unowned.add(agent.changedSeq)
      return {
        metrics: [
          metric('M26', { active: agents.length, registered, removed }, agents.length),
          metric('M27', unowned.count, agents.length),
        ],
        checks: [unowned.outcome({ population: agents.length })],
      }
    },
  }
}

const liveAt = ({ credentials }: FactState, time: number): CredentialState[] =>
  [...credentials.values()].filter((one) => isLive(one, time))

/** Returns whether a credential has no expiry, no scope or every scope. */
const isUnlimited = ({ expiresAt, scopes }: CredentialState): boolean =>
  expiresAt === null || scopes.length === 0 || scopes.includes('*')

/** M29 to M31: credentials in the period, and those alive at its end. */
export const credentialsMeter: CreateMeter = ({ question, seqsOf }) => {
  const { from, to, thresholds } = question
  const days = thresholds.credential_max_age_days
  const old = seqsOf('ACC-2')
  const unlimited = seqsOf('ACC-3')
  let before = 0
  let issued = 0
  let revoked = 0
  return {
    reads: ['credential.*', 'agent.removed', 'issuer.removed'],
    /** An expiry leaves no entry and is derived from this count. */
    begin(state) {
      before = liveAt(state, from).length
    },
    entry(entry, state) {
      if (entry.kind === 'credential.issued' || entry.kind === 'credential.rotated') {
        if (!entry.erased) issued += 1
        return
      }
      for (const one of revokedCredentials(entry, state)) if (isLive(one, entry.time)) revoked += 1
    },
    end(state) {
      const live = liveAt(state, to)
      for (const one of live) {
        if (to - one.time > days * DAY) old.add(one.seq)
        if (isUnlimited(one)) unlimited.add(one.seq)
      }
      const population = live.length
      const expired = before + issued - revoked - population
      return {
        metrics: [
          metric('M29', { alive: population, issued, revoked, expired }, population),
          metric('M30', old.count, population),
          metric('M31', unlimited.count, population),
        ],
        checks: [
          old.outcome({ population, threshold: `none older than ${days} days` }),
          unlimited.outcome({ population }),
        ],
      }
    },
  }
}

/**
 * M28: agents with a live credential and no recent decision. An agent that is younger is not judged. Each
 * erased decision may have been one of the others.
 */
export const dormantMeter: CreateMeter = ({ question, seqsOf }) => {
  const { to, thresholds } = question
  const dormant = seqsOf('ACC-7')
  const active = new Set<string>()
  const since = to - thresholds.dormant_days * DAY
  let erased = 0
  return {
    reads: ['authorization.decided'],
    since,
    entry({ agent_id, erased: isErased }) {
      if (isErased) erased += 1
      if (agent_id !== null) active.add(agent_id)
    },
    end(state) {
      const armed = new Set<string>()
      for (const one of state.credentials.values()) if (isLive(one, to)) armed.add(one.agentId)
      const agents = presentAgents(state)
      const idle = agents.filter(({ id, time }) => time < since && armed.has(id) && !active.has(id))
      if (idle.length > erased) for (const { changedSeq } of idle) dormant.add(changedSeq)
      return {
        metrics: [metric('M28', dormant.count, agents.length)],
        checks: [dormant.outcome({ population: agents.length })],
      }
    },
  }
}

const isWild = ({ actions }: PermissionState): boolean => actions.some(matchesAll)

/**
 * M34: grants of every action, and grants without recent use, at the end of the period. A grant that is
 * younger than the time of use is not judged. Each erased decision may have used one of the others.
 */
export const grantsMeter: CreateMeter = ({ question, seqsOf }) => {
  const { to, thresholds } = question
  const percent = thresholds.unused_grants_percent
  const against = seqsOf('ACC-6')
  /** Every action that was decided for each agent. */
  const actions = new Map<string, Set<string>>()
  const since = to - thresholds.unused_grant_days * DAY
  let erased = 0

  const isUsed = ({ agentId, actions: patterns }: PermissionState): boolean => {
    for (const action of actions.get(agentId) ?? [])
      if (patterns.some((pattern) => matchesPattern(pattern, action))) return true
    return false
  }

  return {
    reads: ['authorization.decided'],
    since,
    entry({ agent_id, action, erased: isErased }) {
      if (isErased) erased += 1
      if (agent_id === null || action === null) return
      const known = actions.get(agent_id)
      if (known) known.add(action)
      else actions.set(agent_id, new Set([action]))
    },
    end({ permissions }) {
      const grants = [...permissions.values()].filter(
        ({ effect, expiresAt }) => effect === 'allow' && (expiresAt === null || to < expiresAt),
      )
      const wild = grants.filter(isWild)
      const idle = grants.filter((grant) => grant.changedTime < since && !isUsed(grant))
      const unused = idle.length <= erased ? [] : idle
      const isMostlyUsed = isAtMostPercent(unused.length, grants.length, percent)
      const counts = { wildcards: wild.length, unused: unused.length }
      if (wild.length > 0 || !isMostlyUsed)
        for (const { changedSeq } of new Set([...wild, ...(isMostlyUsed ? [] : unused)]))
          against.add(changedSeq)
      return {
        metrics: [metric('M34', { grants: grants.length, ...counts }, grants.length)],
        checks: [
          against.outcome({
            population: grants.length,
            value: counts,
            threshold: `none covers every action, and at most ${percent}% unused`,
            params: { n: grants.length, found: foundText(counts, thresholds) },
          }),
        ],
      }
    },
  }
}

const foundText = (
  { wildcards, unused }: { readonly wildcards: number; readonly unused: number },
  { unused_grant_days: days }: CheckThresholds,
): string =>
  [
    ...(wildcards > 0 ? [`${wildcards} for every action`] : []),
    ...(unused > 0 ? [`${unused} not used in ${days} days`] : []),
  ].join(' and ')

interface Orphan {
  readonly agentId: string
  readonly removedAt: number
  readonly credential: CredentialState
}

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
      const agentId = entry.agent_id ?? entry.read('agent.removed').agent_id
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
        if (!isLive(one, to) || !state.agents.get(one.agentId)?.isRemoved) continue
        alive.add(one.id)
        removed.add(one.agentId)
        outlived.add(one.seq)
      }
      for (const orphan of orphans.values()) {
        const { id, expiresAt } = orphan.credential
        if (!alive.has(id) && expiresAt !== null) end(orphan, expiresAt, null)
      }
      const value = { orphaned: alive.size, longest_delay_hours: hoursText(longest) }
      return {
        metrics: [metric('M32', value, removed.size)],
        checks: [
          outlived.outcome({
            population: removed.size,
            value,
            threshold: `none alive after its agent, and none ended more than ${thresholds.revocation_delay_hours} hours later`,
            fixedBy: alive.size === 0 ? endingSeq : null,
          }),
        ],
      }
    },
  }
}

/** The credentials that an entry revokes, as in the state before it. */
export const revokedCredentials = (entry: FactEntry, state: FactState): CredentialState[] =>
  revokedIds(entry).flatMap((id) => state.credentials.get(id) ?? [])

function revokedIds(entry: FactEntry): readonly string[] {
  const { kind } = entry
  if (kind === 'agent.removed' || kind === 'issuer.removed')
    return entry.read(kind).revoked_credentials ?? []
  if (kind !== 'credential.revoked') return []
  const { credential, credential_ids: ids } = entry.read(kind)
  return [credential?.id ?? [], ids ?? []].flat()
}

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
      const { kind, seq, erased } = entry
      if (erased) return
      if (kind !== 'credential.issued' && kind !== 'credential.rotated') {
        for (const { id } of revokedCredentials(entry, state)) if (open.delete(id)) endingSeq = seq
        return
      }
      issued += 1
      const { credential } = entry.read(kind)
      const agentId = credential?.agent_id ?? entry.agent_id
      const isKnown = agentId !== null && state.agents.has(agentId)
      // The registration entry may have been erased.
      if (isKnown || state.lost('agent.registered') > 0) return
      early.add(seq)
      open.set(credential?.id ?? '', agentId ?? '')
    },
    end: (state) => ({
      metrics: [metric('M33', early.count, issued)],
      checks: [
        early.outcome({ population: issued, fixedBy: mendedBy(open.values(), endingSeq, state) }),
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
