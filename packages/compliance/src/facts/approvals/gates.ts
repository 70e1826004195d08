import { matchesPattern } from '@remit/contract/patterns'
import type { FactEntry } from '../entry.ts'
import { DECIDED } from '../lazy-entry.ts'
import { Cases } from '../cases.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { ratioOf } from '../ratio.ts'
import { approvalAt, approvalOf } from '../state/approvals.ts'
import type { ApprovalState } from '../state/approvals.ts'
import { consequentialActions } from '../state/organization.ts'
import type { FactState } from '../state/state.ts'
import { OpenRequests } from './open-requests.ts'
import { isReleasedByPerson, wasReleasedSince } from './requests.ts'

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
  let isBegun = false

  /** Requests that were open when the period began: cases without a day in it. */
  function begin(state: FactState): void {
    if (isBegun) return
    isBegun = true
    for (const one of state.approvals.values()) if (isOpen(one, from)) requests.count += 1
  }

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
    entry(entry, state, inPeriod) {
      if (inPeriod) begin(state)
      if (entry.kind !== DECIDED) {
        if (!entry.erased) move(entry, inPeriod)
      } else if (entry.decision === 'allow') allow(entry, state)
    },
    end(state) {
      begin(state)
      const share = ratioOf(byPerson.count, released)
      return {
        metrics: [
          { id: 'M16', value: share, population: released },
          { id: 'M23', value: past.count, population: requests.count },
        ],
        checks: [
          outcome({
            check: 'APR-1',
            population: released,
            cases: byPerson,
            value: { share, named: byPerson.count, unnamed },
            failures: failing(unreleased),
          }),
          outcome({
            check: 'APR-2',
            population: requests.count,
            cases: requests,
            value: { count: past.count },
            failures: failing(past),
          }),
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
