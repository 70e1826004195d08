import { hash } from 'node:crypto'
import { isRecord } from '@remit/contract/entries'
import type { RecordedJson } from '@remit/contract/entries'
import { matchesPattern } from '@remit/contract/patterns'
import { canonicalJson } from '@remit/contract/json'
import type { FactEntry } from './entry.ts'
import { DECIDED } from './entry.ts'
import { Cases, HOUR } from './facts.ts'
import { metric, ratioOf } from './meter.ts'
import type { CreateMeter } from './meter.ts'
import { approvalAt, approvalOf } from './state/rules.ts'
import type { ApprovalState } from './state/rules.ts'
import { consequentialActions } from './state/state.ts'
import type { FactState } from './state/state.ts'
import { isNamed, voteIn, voterName, VOTING, objectionTo } from './approvers.ts'
import type { Objection } from './approvers.ts'

/**
 * M16, M23: consequential actions that were released, with or without prior approval by a person;
 * and allows that rely on an approval that was not valid at that time. An action is consequential
 * if it needed approval or if the setting `consequential_actions` named it at the time of the
 * decision. A case is an approval request, or an allow that relies on none; it is released when it
 * is approved, or by its allow.
 */
export const gatesMeter: CreateMeter = ({ question: { from }, seqsOf }) => {
  const unreleased = seqsOf('APR-1')
  const past = seqsOf('APR-2')
  const asked = new OpenRequests()
  const listed = new Listed()
  /** Released by a named person. */
  const byPerson = new Cases()
  const requests = new Cases()
  let released = 0
  /** Approved only by keys without a named person. */
  let unnamed = 0

  function release({ seq, time }: FactEntry, isByPerson: boolean): void {
    released += 1
    if (isByPerson) byPerson.add(time)
    else unreleased.add(seq)
  }

  function allow(entry: FactEntry, state: FactState): void {
    const { seq, time, decided, action } = entry
    if (!decided) return
    const { approval: named } = decided
    if (named) {
      const approval = state.approvals.get(named.id)
      // The entry of the approval may have been erased.
      if (!isDecided(approval) && state.lost('approval.decided') > 0) return
      if (!approval) requests.add(time)
      if (!approval || approvalAt(approval, time) !== 'approved') past.add(seq)
      if (!approval || !wasReleasedSince(approval, from))
        release(entry, approval !== undefined && isReleasedByPerson(approval))
      return
    }
    const passed = asked.passedBy(entry)
    if (passed !== null) asked.drop(entry.agent_id ?? '', passed)
    if (passed !== null || listed.has(action, state)) release(entry, false)
  }

  function move(entry: FactEntry, inPeriod: boolean): void {
    if (entry.kind === 'approval.requested') {
      asked.add(entry)
      if (inPeriod) requests.add(entry.time)
      return
    }
    const approval = approvalOf(entry)
    if (!approval || approval.status === 'pending') return
    const isApproved = entry.kind === 'approval.decided' && approval.status === 'approved'
    // A request that was refused or expired in the period must not be allowed at the end, either.
    if (isApproved || !inPeriod) asked.drop(approval.agentId, approval.id)
    if (!isApproved || !inPeriod) return
    if (!approval.personApproved) unnamed += 1
    release(entry, approval.personApproved)
  }

  return {
    reads: ['approval.*', DECIDED],
    since: (kind) => (kind === DECIDED ? from : -Infinity),
    /** Requests that were open when the period began: cases without a day in it. */
    begin({ approvals }) {
      for (const one of approvals.values()) if (isOpen(one, from)) requests.count += 1
    },
    entry(entry, state, inPeriod) {
      if (entry.kind !== DECIDED) {
        if (!entry.erased) move(entry, inPeriod)
      } else if (entry.decision === 'allow') allow(entry, state)
    },
    end() {
      const share = ratioOf(byPerson.count, released)
      return {
        metrics: [metric('M16', share, released), metric('M23', past.count, requests.count)],
        checks: [
          unreleased.outcome({
            population: released,
            cases: byPerson,
            value: { share, named: byPerson.count, unnamed },
          }),
          past.outcome({ population: requests.count, cases: requests }),
        ],
      }
    },
  }
}

const isDecided = (approval: ApprovalState | undefined): boolean =>
  approval !== undefined && approval.decidedAt !== null

const isOpen = (approval: ApprovalState, time: number): boolean => {
  const status = approvalAt(approval, time)
  return status === 'pending' || status === 'approved'
}

/** The setting `consequential_actions`, with its cached result per action. */
class Listed {
  readonly #known = new Map<string, boolean>()
  #of: FactState['organization'] = null

  has(action: string | null, { organization }: FactState): boolean {
    if (action === null) return false
    if (this.#of !== organization) {
      this.#of = organization
      this.#known.clear()
    }
    const known = this.#known.get(action)
    if (known !== undefined) return known
    const has = consequentialActions(organization).some((one) => matchesPattern(one, action))
    if (this.#known.size < 10_000) this.#known.set(action, has)
    return has
  }
}

interface OpenRequest {
  readonly id: string
  readonly action: string | null
  readonly resource: string | null
  /** The context members that are bound; null means all. */
  readonly bound: readonly string[] | null
  readonly facts: string
}

/**
 * Open or refused approval requests, indexed to recognize an allow for the same agent, action,
 * resource and bound context that does not name the request.
 */
class OpenRequests {
  readonly #byAgent = new Map<string, Map<string, OpenRequest>>()

  /** Adds the request from the entry that opened it. */
  add(entry: FactEntry): void {
    const { approval } = entry.read('approval.requested')
    const id = approval?.id ?? null
    const agent = entry.agent_id
    if (!approval || id === null || agent === null) return
    const { binding_context: bound, context } = approval
    const facts = factsOf(isRecord(context) ? context : {}, bound)
    const { action, resource } = entry
    const ofAgent = this.#byAgent.get(agent) ?? new Map<string, OpenRequest>()
    ofAgent.set(id, { id, action, resource, bound, facts })
    this.#byAgent.set(agent, ofAgent)
  }

  /** Removes a request. */
  drop(agentId: string, id: string): void {
    const ofAgent = this.#byAgent.get(agentId)
    if (!ofAgent?.delete(id)) return
    if (ofAgent.size === 0) this.#byAgent.delete(agentId)
  }

  /** The request that an allow without approval bypassed; null if none. */
  passedBy(entry: FactEntry): string | null {
    if (this.#byAgent.size === 0 || entry.agent_id === null) return null
    const { action, resource } = entry
    let facts: { readonly bound: readonly string[] | null; readonly text: string } | null = null
    for (const one of this.#byAgent.get(entry.agent_id)?.values() ?? []) {
      if (one.action !== action || one.resource !== resource) continue
      if (facts === null || !isSame(facts.bound, one.bound))
        facts = {
          bound: one.bound,
          text: factsOf(entry.read(DECIDED).context ?? {}, one.bound),
        }
      if (facts.text === one.facts) return one.id
    }
    return null
  }
}

const isSame = (a: readonly string[] | null, b: readonly string[] | null): boolean =>
  JSON.stringify(a) === JSON.stringify(b)

/**
 * Hashes the bound part of a context, since contexts can be large. `approval` is only a reference
 * to an approval.
 */
function factsOf(context: RecordedJson, bound: readonly string[] | null): string {
  const counts = Object.entries(context).filter(
    ([name]) => name !== 'approval' && (bound === null || bound.includes(name)),
  )
  return hash('sha256', canonicalJson(Object.fromEntries(counts)), 'base64url')
}

/** Returns whether a request was approved with the vote of at least one person. */
const isReleasedByPerson = ({ usableUntil, personApproved }: ApprovalState): boolean =>
  usableUntil !== null && personApproved

/** Returns whether a request was approved in the period that starts at `from`. */
const wasReleasedSince = ({ usableUntil, decidedAt }: ApprovalState, from: number) =>
  usableUntil !== null && decidedAt !== null && decidedAt >= from

interface Load {
  readonly isNamed: boolean
  hour: number
  inHour: number
  most: number
  total: number
}

/**
 * M21: the maximum number of requests one approver decides in a clock hour (UTC), and the share of
 * the busiest approver. The check is about votes of named people.
 */
export const approverLoadMeter: CreateMeter = ({ question: { thresholds }, seqsOf }) => {
  const most = thresholds.approver_decisions_per_hour
  const beyond = seqsOf('APR-7')
  const loads = new Map<string, Load>()
  let votes = 0
  const approvals = new Cases()
  let named = 0
  return {
    reads: VOTING,
    entry(entry) {
      const vote = voteIn(entry)
      if (!vote) return
      votes += 1
      if (isNamed(vote)) {
        named += 1
        if (vote.decision === 'approve') approvals.add(entry.time)
      }
      const hour = Math.floor(entry.time / HOUR)
      const name = voterName(vote)
      const load = loads.get(name) ?? {
        isNamed: isNamed(vote),
        hour,
        inHour: 0,
        most: 0,
        total: 0,
      }
      loads.set(name, load)
      if (load.hour !== hour) load.inHour = 0
      load.hour = hour
      load.inHour += 1
      load.total += 1
      load.most = Math.max(load.most, load.inHour)
      if (load.isNamed && load.inHour > most) beyond.add(entry.seq)
    },
    end() {
      const ordered = [...loads].toSorted(([a, x], [b, y]) => y.most - x.most || (a < b ? -1 : 1))
      const busiest = [...loads.values()].reduce((total, load) => Math.max(total, load.total), 0)
      const [approver = '', load] = ordered.find(([, one]) => one.isNamed) ?? []
      const n = load?.most ?? 0
      return {
        metrics: [
          metric(
            'M21',
            {
              max_per_hour: ordered[0]?.[1].most ?? 0,
              approvers: loads.size,
              busiest_share: ratioOf(busiest, votes),
            },
            votes,
          ),
        ],
        checks: [
          beyond.outcome({
            population: named,
            cases: approvals,
            value: { max_per_hour: n },
            threshold: `at most ${most} votes of one approver in an hour`,
            fails: approvals.count >= thresholds.min_approvals,
            params: { approver, n },
          }),
        ],
      }
    },
  }
}

/**
 * M22: votes by the requester, by an owner of the agent, with the key of a person who was disabled or
 * removed, or with a key without a named person.
 * `asserted` counts the unnamed votes for which the request contained a name.
 */
export const independenceMeter: CreateMeter = ({ seqsOf }) => {
  const against = seqsOf('APR-3')
  const counts = { requester: 0, owner: 0, former: 0, unnamed: 0 }
  let asserted = 0
  let votes = 0
  const named = new Cases()
  return {
    reads: VOTING,
    entry(entry, state) {
      const vote = voteIn(entry)
      const approval = approvalOf(entry)
      if (!vote || !approval) return
      votes += 1
      const objection = objectionTo(vote, approval, state)
      if (objection) {
        counts[objection] += 1
        against.add(entry.seq)
      }
      if (isNamed(vote)) named.add(entry.time)
      else if (vote.type === 'person') asserted += 1
    },
    end: () => ({
      metrics: [metric('M22', { count: against.count, ...counts, asserted }, votes)],
      checks: [
        against.outcome({
          population: votes,
          cases: named,
          value: { named: named.count, unnamed: votes - named.count, count: against.count },
          params: { n: against.count, by: byText(counts) },
        }),
      ],
    }),
  }
}

const BY: Readonly<Record<Objection, string>> = {
  requester: 'by the requester',
  owner: 'by an owner of the agent',
  former: 'with the key of a person who was disabled or removed',
  unnamed: 'with a key that names nobody',
}

const byText = (counts: Readonly<Record<Objection, number>>): string =>
  (['requester', 'owner', 'former', 'unnamed'] as const)
    .filter((one) => counts[one] > 0)
    .map((one) => `${BY[one]} (${counts[one]})`)
    .join(', ')
