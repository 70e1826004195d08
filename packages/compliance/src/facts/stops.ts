import { matchesAll, matchesPattern } from '@remit/contract/patterns'
import type { FactEntry } from './entry.ts'
import { readsOf } from './evidence-kinds.ts'
import type { CreateMeter, CheckFailure } from './meter.ts'
import { percentile } from './percentile.ts'
import { metric } from './meter.ts'
import { secondsText } from './moment.ts'
import { LowestSeqs } from './seqs.ts'
import type { FactState } from './state/state.ts'
import { ByAgent, isOpen } from './state/agents.ts'
import type { PermissionState } from './state/agents.ts'
import { isNamed, voteIn } from './approvers.ts'
import { authorOf } from './changes.ts'

interface Broken {
  readonly agentId: string
  readonly stopSeq: number
  readonly seqs: LowestSeqs
  /** The first denial by the stop since the last allow in spite of it. */
  deniedSeq: number | null
}

/**
 * M25: allows for a stopped agent: suspended, removed, or under a denial that covers the request.
 * Conditional denials cannot be evaluated here and are ignored, as is an allow that an erased entry
 * may have made valid.
 */
export const stoppedMeter: CreateMeter = ({ question: { from }, seqsOf }) => {
  const all = seqsOf('DEC-3')
  const denies = new Denies()
  const broken = new Map<string, Broken>()
  /** Stops of the period without a denial yet: by agent, or by denial; milliseconds. */
  const awaiting = new Map<string, number>()
  /** The names of stops in force at some time of the period, and of those that met a request. */
  const known = new Set<string>()
  const met = new Set<string>()
  const delays: number[] = []
  let stops = 0

  function noteStop(name: string): void {
    stops += 1
    known.add(name)
  }

  function breach(
    { seq }: FactEntry,
    agentId: string,
    stop: { readonly name: string; readonly seq: number },
  ): void {
    all.add(seq)
    met.add(stop.name)
    const id = `${stop.seq} ${agentId}`
    const one = broken.get(id) ?? {
      agentId,
      stopSeq: stop.seq,
      seqs: new LowestSeqs(),
      deniedSeq: null,
    }
    one.seqs.add(seq)
    one.deniedSeq = null
    broken.set(id, one)
  }

  function allow(entry: FactEntry, state: FactState): void {
    const { agent_id: id } = entry
    if (id === null) return
    const stop = state.stops.get(id)
    if (stop) {
      const isLifted = stop.cause === 'suspended' && state.lost('agent.resumed') > 0
      if (!isLifted) breach(entry, id, { name: agentStop(id), seq: stop.seq })
      return
    }
    const deny = denies.against(entry, state)
    if (deny && state.lost('permission.granted', 'permission.revoked') === 0)
      breach(entry, id, { name: denial(deny.id), seq: deny.changedSeq })
  }

  /** A violated stop counts as corrected with the next denial by it. */
  function mend(entry: FactEntry, id: string, state: FactState): void {
    const stop = state.stops.get(id)?.seq ?? denies.against(entry, state)?.changedSeq
    const one = broken.get(`${stop} ${id}`)
    if (one) one.deniedSeq ??= entry.seq
  }

  function denied(entry: FactEntry, state: FactState): void {
    const { time, agent_id: id, decided } = entry
    if (id === null) return
    if (broken.size > 0) mend(entry, id, state)
    if (met.size === known.size && awaiting.size === 0) return
    const denials = (decided?.matched ?? []).map((one) => `${one.kind} ${one.id}`)
    for (const name of state.stops.has(id) ? [agentStop(id), ...denials] : denials) {
      if (known.has(name)) met.add(name)
      const since = awaiting.get(name)
      if (since === undefined) continue
      delays.push(time - since)
      awaiting.delete(name)
    }
  }

  return {
    reads: ['authorization.decided', 'agent.*', 'permission.*'],
    /** Stops in force when the period began. */
    begin(state) {
      for (const id of state.stops.keys()) noteStop(agentStop(id))
      for (const [id, { isConditional, expiresAt }] of state.denies)
        if (!isConditional && (expiresAt === null || from < expiresAt)) noteStop(denial(id))
    },
    entry(entry, state) {
      const { kind, decision, time } = entry
      if (kind === 'authorization.decided') {
        if (decision === 'allow') allow(entry, state)
        else if (decision === 'deny') denied(entry, state)
        return
      }
      const name = stopIn(entry, state)
      if (name === null) return
      noteStop(name)
      awaiting.set(name, time)
    },
    end() {
      const sorted = delays.toSorted((a, b) => a - b)
      const failures = [...broken.values()].map(
        ({ agentId, stopSeq, seqs, deniedSeq }): CheckFailure => ({
          params: { agent_id: agentId, n: seqs.count, seq: stopSeq },
          count: seqs.count,
          seqs: seqs.seqs,
          fixedBy: deniedSeq,
        }),
      )
      return {
        metrics: [
          metric(
            'M25',
            {
              allows_after_stop: all.count,
              first_denial_seconds: {
                measured: sorted.length,
                median: secondsText(percentile(sorted, 50)),
                max: secondsText(sorted.at(-1) ?? null),
              },
            },
            stops,
          ),
        ],
        // A stop that met no request is no case.
        checks: [all.outcome({ population: met.size, failures })],
      }
    },
  }
}

/** The new stop that an entry makes; null if none. */
function stopIn(entry: FactEntry, { stops }: FactState): string | null {
  const { kind, agent_id: id } = entry
  if (kind === 'permission.granted') {
    const { permission } = entry.read(kind)
    const isDeny = permission?.effect === 'deny' && permission.condition === null
    return isDeny ? denial(permission.id ?? '') : null
  }
  const isStop =
    kind === 'agent.suspended' ||
    kind === 'agent.removed' ||
    entry.read('agent.updated').agent?.status === 'suspended'
  return isStop && id !== null && !stops.has(id) ? agentStop(id) : null
}

const agentStop = (id: string): string => `agent ${id}`
const denial = (id: string): string => `permission ${id}`

/** Finds the denial that an allow violates. */
class Denies {
  #version = -1
  #denies = new ByAgent([])

  /** Returns the unconditional denial that matches the request of an entry; null if none. */
  against(entry: FactEntry, state: FactState): PermissionState | null {
    const { agent_id: id, action, resource, time } = entry
    if (state.denies.size === 0 || id === null || action === null) return null
    if (state.deniesVersion !== this.#version) {
      this.#version = state.deniesVersion
      this.#denies = new ByAgent(state.denies.values())
    }
    const isAgainst = (deny: PermissionState) =>
      !deny.isConditional && isOpen(deny, time) && isAbout(deny, action, resource)
    return this.#denies.of(id).find(isAgainst) ?? null
  }
}

/** Matches as decisions do: a request without a resource matches patterns that match everything. */
const isAbout = (
  { actions, resources }: PermissionState,
  action: string,
  resource: string | null,
): boolean =>
  actions.some((pattern) => matchesPattern(pattern, action)) &&
  resources.some((pattern) =>
    resource === null ? matchesAll(pattern) : matchesPattern(pattern, resource),
  )

/** Entry kinds that can record an intervention. */
const INTERVENING = readsOf('agent_interventions')

export type Intervention =
  | 'denies'
  | 'permissions_revoked'
  | 'credentials_revoked'
  | 'suspensions'
  | 'removals'
  | 'refusals'

const BY_KIND: Readonly<Record<string, Intervention>> = {
  'permission.revoked': 'permissions_revoked',
  'credential.revoked': 'credentials_revoked',
  'agent.suspended': 'suspensions',
  'agent.removed': 'removals',
}

/** The kind of intervention, and whether a person made it; null for other entries. */
export function interventionOf(
  entry: FactEntry,
  state: FactState,
): { readonly what: Intervention; readonly byPerson: boolean } | null {
  const { kind } = entry
  if (kind === 'approval.voted' || kind === 'approval.decided') {
    const vote = voteIn(entry)
    return vote?.decision === 'reject' ? { what: 'refusals', byPerson: isNamed(vote) } : null
  }
  const isDeny = kind === 'permission.granted' && entry.read(kind).permission?.effect === 'deny'
  const what = isDeny ? 'denies' : BY_KIND[kind]
  return what && !entry.erased ? { what, byPerson: authorOf(entry, state) !== null } : null
}

/** M24: interventions by people, by kind; others are by the operator, shared keys or agents. */
export const interventionsMeter: CreateMeter = () => {
  const byPeople: Record<Intervention, number> = {
    denies: 0,
    suspensions: 0,
    removals: 0,
    permissions_revoked: 0,
    credentials_revoked: 0,
    refusals: 0,
  }
  let total = 0
  let others = 0
  return {
    reads: INTERVENING,
    entry(entry, state) {
      const found = interventionOf(entry, state)
      if (!found) return
      total += 1
      if (found.byPerson) byPeople[found.what] += 1
      else others += 1
    },
    end: () => ({
      metrics: [metric('M24', { total: total - others, ...byPeople, by_others: others }, total)],
      checks: [],
    }),
  }
}
