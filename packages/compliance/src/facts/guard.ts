import { Cases, DAY } from './facts.ts'
import { isAtMostPercent, metric, percentText, ratioOf } from './meter.ts'
import type { CreateMeter } from './meter.ts'
import { DECIDED } from './entry.ts'
import type { FactEntry } from './entry.ts'

const VERDICTS = ['allow', 'redact', 'block'] as const

/**
 * M45: guard checks, and the share of deciding agents that were checked. A plain allow has no entry
 * of its own; `guard.counted` entries contain the sums.
 */
export const guardMeter: CreateMeter = ({ question, seqsOf }) => {
  const { guarded_percent: percent } = question.thresholds
  const unchecked = seqsOf('GRD-1')
  const byVerdict: Record<string, number> = Object.fromEntries(VERDICTS.map((one) => [one, 0]))
  const checked = new Set<string>()
  /** Agents and their first decision. */
  const deciding = new Map<string, number>()
  const checks = new Cases()

  function add(time: number, verdict: string | null, count: number): void {
    if (count > 0) checks.add(time, count)
    if (verdict !== null && Object.hasOwn(byVerdict, verdict))
      byVerdict[verdict] = (byVerdict[verdict] ?? 0) + count
  }

  return {
    reads: ['guard.checked', 'guard.counted', 'authorization.decided'],
    entry(entry) {
      if (entry.erased) return
      const { kind, seq, time, agent_id } = entry
      if (kind === 'authorization.decided') {
        if (agent_id !== null && !deciding.has(agent_id)) deciding.set(agent_id, seq)
      } else if (kind === 'guard.checked') {
        add(time, entry.read(kind).action, 1)
        if (agent_id !== null) checked.add(agent_id)
      } else {
        const { checks: count, agents } = entry.read('guard.counted')
        add(time, 'allow', count ?? 0)
        for (const { agent_id: agent } of agents ?? []) if (agent !== null) checked.add(agent)
      }
    },
    end() {
      const population = deciding.size
      const bare = [...deciding].filter(([agent]) => !checked.has(agent))
      const covered = population - bare.length
      const share = ratioOf(covered, population)
      const isEnough = isAtMostPercent(bare.length, population, 100 - percent)
      if (!isEnough) for (const [, seq] of bare) unchecked.add(seq)
      const value = { checks: checks.count, by_verdict: byVerdict, agents_checked: share }
      return {
        metrics: [metric('M45', value, population)],
        checks: [
          unchecked.outcome({
            population,
            cases: checks,
            value: { share },
            threshold: `at least ${percent}% of agents`,
            params: { share: percentText(share), checked: covered, of: population },
          }),
        ],
      }
    },
  }
}

/** The time before the period in which a flag can precede an allow of the period. */
const LOOK_BACK = 31 * DAY

interface Flag {
  readonly seq: number
  readonly inPeriod: boolean
  isFollowed: boolean
}

/**
 * M46: flagged checks that were followed by an allow for the same session or request. Decisions
 * name them as `context.session_id` and `context.request_id`. A flag without either cannot be
 * followed: it is counted separately and the check ignores it. An earlier flag counts if an allow
 * of this period follows it, since it could not be known in its own period.
 */
export const flagsMeter: CreateMeter = ({ seqsOf, question: { from } }) => {
  const followed = seqsOf('GRD-2')
  /** Flags not yet followed by an allow, by session and request. */
  const waiting = { session_id: new Map<string, Flag[]>(), request_id: new Map<string, Flag[]>() }
  const names = ['session_id', 'request_id'] as const
  let flagged = 0
  let unlinked = 0
  /** Flags with a session or request. */
  const linked = new Cases()
  /** A decision named a session or request, so a flag could be followed. */
  let isTraceable = false

  function flag(entry: FactEntry, inPeriod: boolean): void {
    const { seq, time } = entry
    const checked = entry.read('guard.checked')
    if (inPeriod) flagged += 1
    const one: Flag = { seq, inPeriod, isFollowed: false }
    let isLinked = false
    for (const name of names) {
      const id = checked[name]
      if (id === null) continue
      isLinked = true
      const others = waiting[name].get(id)
      if (others) others.push(one)
      else waiting[name].set(id, [one])
    }
    if (!inPeriod) return
    if (isLinked) linked.add(time)
    else unlinked += 1
  }

  function decide(entry: FactEntry): void {
    const isWaiting = waiting.session_id.size > 0 || waiting.request_id.size > 0
    if (!isWaiting && (isTraceable || flagged === 0)) return
    const { context } = entry.read(DECIDED)
    for (const name of names) {
      const id = context?.[name]
      if (typeof id !== 'string') continue
      isTraceable = true
      if (entry.decision !== 'allow') continue
      for (const one of waiting[name].get(id) ?? []) {
        if (one.isFollowed) continue
        one.isFollowed = true
        followed.add(one.seq)
        if (!one.inPeriod) flagged += 1
      }
      waiting[name].delete(id)
    }
  }

  return {
    reads: ['guard.checked', 'authorization.decided'],
    since: (kind) => (kind === 'guard.checked' ? from - LOOK_BACK : from),
    entry(entry, _state, inPeriod) {
      if (entry.erased) return
      if (entry.kind === 'authorization.decided') {
        decide(entry)
      } else if (entry.read('guard.checked').flagged) flag(entry, inPeriod)
    },
    end: () => ({
      metrics: [metric('M46', { flagged, followed: followed.count, unlinked }, flagged)],
      checks: [
        followed.outcome({
          // Otherwise no flag could be followed.
          population: isTraceable ? flagged - unlinked : 0,
          cases: linked,
          value: { followed: followed.count, unlinked },
        }),
      ],
    }),
  }
}
