import { reasonFacts } from '@remit/contract'
import { isKindInPlan, isAtMostPercent, metric, percentText, ratioOf } from './meter.ts'
import type { CreateMeter } from './meter.ts'
import { Cases } from './facts.ts'
import type { DecisionFacts } from './entry.ts'
import { NameCounts } from './name-counts.ts'
import type { FactState } from './state/state.ts'

/** M14: allows without a matching rule or grant. */
export const governedMeter: CreateMeter = ({ question: { thresholds }, seqsOf }) => {
  const ungoverned = seqsOf('DEC-4')
  const percent = thresholds.ungoverned_percent
  const cases = new Cases()
  return {
    reads: ['authorization.decided'],
    entry({ seq, time, decision, decided }) {
      if (decision !== 'allow' || !decided) return
      cases.add(time)
      if (!decided.isGoverned) ungoverned.add(seq)
    },
    end({ organization }) {
      const { count } = ungoverned
      const allows = cases.count
      const share = ratioOf(count, allows)
      const isInPlan = isKindInPlan('policy_rules', organization?.plan ?? 'free')
      return {
        metrics: [metric('M14', share, allows)],
        checks: [
          ungoverned.outcome({
            population: isInPlan ? allows : 0,
            cases,
            value: share,
            threshold: `at most ${percent}% of allows`,
            fails: !isAtMostPercent(count, allows, percent),
            params: { share: percentText(share), n: count, of: allows },
          }),
        ],
      }
    },
  }
}

/**
 * Returns whether an entry explains its decision: the reason, the matches if the reason refers to
 * some, and the config version. The version stands for a digest of the rules: every change of rules
 * moves it and is recorded, so it identifies the rules of the decision.
 */
const isExplained = (reason: string | null, { matches, configVersion }: DecisionFacts): boolean =>
  reason !== null &&
  reason !== '' &&
  configVersion !== null &&
  matches !== null &&
  (matches > 0 || reasonFacts(reason)?.needsMatch === false)

/** M10, M11, M12: decisions by outcome and reason, and their explanations. */
export const outcomesMeter: CreateMeter = ({ seqsOf }) => {
  const unexplained = seqsOf('DEC-2')
  const outcomes = new NameCounts()
  const denials = new NameCounts()
  const cases = new Cases()
  let erased = 0
  return {
    reads: ['authorization.decided'],
    entry({ seq, time, decided, decision, reason }) {
      if (!decided) {
        erased += 1
        return
      }
      cases.add(time)
      outcomes.add(decision ?? 'unknown')
      if (decision === 'deny') denials.add(reason ?? 'unknown')
      if (!isExplained(reason, decided)) unexplained.add(seq)
    },
    end() {
      const { total } = outcomes
      const deny = outcomes.of('deny')
      const share = ratioOf(total - unexplained.count, total)
      return {
        metrics: [
          metric(
            'M10',
            {
              allow: outcomes.of('allow'),
              deny,
              needs_approval: outcomes.of('needs_approval'),
              erased,
              denied_share: ratioOf(deny, total),
            },
            total + erased,
          ),
          metric('M11', denials.all, deny),
          metric('M12', share, total),
        ],
        checks: [unexplained.outcome({ population: total, cases, value: share })],
      }
    },
  }
}

// The maximum number of registered agents; further names of one caller are not counted individually.
const MOST = 50_000

/**
 * M13: callers that were not registered. Removed agents count as registered: their requests are
 * denied, and an allow for one of them is a matter of DEC-3.
 */
export const callersMeter: CreateMeter = ({ seqsOf }) => {
  const unregistered = seqsOf('DEC-1')
  const names = new Set<string>()
  const decisions = new Cases()
  let allows = 0
  return {
    reads: ['authorization.decided'],
    entry({ seq, time, agent_id: id, decision }, { agents }) {
      if (id === null) return
      decisions.add(time)
      if (agents.has(id)) return
      unregistered.add(seq)
      if (decision === 'allow') allows += 1
      if (names.size < MOST) names.add(id)
    },
    end(state) {
      const isKept = isKindInPlan('agent_registry', state.organization?.plan ?? 'free')
      const value = { callers: names.size, decisions: unregistered.count, allows }
      return {
        metrics: [metric('M13', value, decisions.count)],
        checks: [
          unregistered.outcome({
            population: isKept ? decisions.count : 0,
            cases: decisions,
            value,
            // Each erased registration may have been one of theirs.
            fails: names.size > state.lost('agent.registered'),
            params: { n: names.size, allows },
            fixedBy: registeredSince(names, state),
          }),
        ],
      }
    },
  }
}

/** The last registration of agents that called before it; null while one of them is not registered. */
function registeredSince(names: ReadonlySet<string>, { agents }: FactState): number | null {
  let last = -1
  for (const name of names) {
    const agent = agents.get(name)
    if (!agent) return null
    if (agent.seq > last) last = agent.seq
  }
  return last < 0 ? null : last
}

/** M51: calls that ran without an allow, as their hosts reported. */
export const gapsMeter: CreateMeter = ({ seqsOf }) => {
  const gaps = seqsOf('DEC-6')
  let allows = 0
  return {
    reads: ['authorization.decided', 'enforcement.gap'],
    entry({ kind, seq, decision }) {
      if (kind === 'enforcement.gap') gaps.add(seq)
      else if (decision === 'allow') allows += 1
    },
    end() {
      const population = allows + gaps.count
      return {
        metrics: [metric('M51', { count: gaps.count }, population)],
        checks: [gaps.outcome({ population })],
      }
    },
  }
}

/** The last inventory of a host in the period. */
interface HostInventory {
  readonly seq: number
  readonly ungoverned: number
  readonly unread: number
}

/** M52: agent hosts with parts that nothing governs, as the last inventory of each has them. */
export const hostsMeter: CreateMeter = ({ seqsOf }) => {
  const failed = seqsOf('DEC-7')
  const hosts = new Map<string, HostInventory>()
  return {
    reads: ['inventory.reported'],
    entry(entry, _state, inPeriod) {
      const {
        host = null,
        items,
        governed,
        unread,
      } = entry.read('inventory.reported').inventory ?? {}
      if (!inPeriod || host === null) return
      const ungoverned = (items ?? 0) - (governed ?? 0)
      hosts.set(host, { seq: entry.seq, ungoverned, unread: unread ?? 0 })
    },
    end() {
      let [ungoverned, unread] = [0, 0]
      for (const host of hosts.values()) {
        ungoverned += host.ungoverned
        unread += host.unread
        if (host.ungoverned + host.unread > 0) failed.add(host.seq)
      }
      const value = { hosts: failed.count, ungoverned, unread }
      return {
        metrics: [metric('M52', value, hosts.size)],
        checks: [
          failed.outcome({
            population: hosts.size,
            value,
            params: { n: failed.count, ungoverned, unread },
          }),
        ],
      }
    },
  }
}
