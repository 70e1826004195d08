import { setImmediate } from 'node:timers/promises'
import type { Database } from '@remit/core/db/open'
import { recordedDecision } from '@remit/core/decision/recorded'
import type { RecordedDecision } from '@remit/core/decision/recorded'
import { findCut, seqAtTime } from '@remit/core/ledger/records'
import type { OpenTrial, RuleTrial } from '@remit/core/module'
import { FLIPS } from '@remit/contract'
import type { Flip, FlipCounts } from '@remit/contract'
import { isoTime } from '@remit/core/base'
import type { ReplayCounts, ReplayResult, ReplaySpan, ReplayTask } from '../jobs/jobs.ts'
import type { Tables } from '../tables/schema.ts'
import { readCarriedEntries } from '../verify/carried-entries.ts'
import { AGENT_KINDS, AgentHistory } from './agent-history.ts'
import type { AgentEntry } from './agent-history.ts'
import { reevaluate } from './reevaluate.ts'
import type { ReevaluatedDecision } from './reevaluate.ts'

type Db = Database<Tables>

// A decision has at most 256 KiB, and few are that large.
const PAGE = 256
/** Sequence numbers to scan in one query where decisions are rare. */
const WINDOW = 20_000
const DECIDED = 'authorization.decided'

/**
 * Evaluates the recorded decisions of a period again. Reads page by page with constant memory, and
 * stops after a number of decisions or a time, with the remaining span. Returns null if the rules
 * differ from those of the earlier part. Other work on the thread gets a turn after every page, and
 * `onProgress` receives the number of processed sequence numbers.
 */
export async function replay(
  db: Db,
  orgId: string,
  task: ReplayTask,
  onProgress: (done: number, total: number) => void,
): Promise<ReplayResult | null> {
  const { openTrial } = (await import(task.module)) as { openTrial: OpenTrial }
  const trial = await openTrial(db, orgId, task.overlay)
  if (task.digest !== null && !trial.digest.startsWith(task.digest)) return null
  const asked = 'fromSeq' in task.span ? task.span : await spanOf(db, orgId, task.span)
  // The ledger may have been pruned beyond the end of the earlier part.
  const span = { ...asked, fromSeq: Math.max(asked.fromSeq, await beginOf(db, orgId)) }
  const judge = new Replayer(db, orgId, trial, task.limit)
  const started = performance.now()
  const isLate = () => performance.now() - started > task.maxMs
  let at = span.fromSeq
  // Every part makes progress, even after its deadline.
  while (at < span.endSeq && judge.tally.decisions < task.maxDecisions) {
    const most = Math.min(PAGE, task.maxDecisions - judge.tally.decisions)
    at = await judge.page(at, span.endSeq, most, isLate)
    onProgress(at - span.fromSeq, span.endSeq - span.fromSeq)
    if (isLate()) break
    await setImmediate()
  }
  const { policies, approvalRules, defaultEffect, digest } = trial
  return {
    counts: judge.tally.counts(),
    judgedBy: { policies, approvalRules, defaultEffect, digest },
    rest: at < span.endSeq ? { fromSeq: at, endSeq: span.endSeq } : null,
  }
}

async function spanOf(
  db: Db,
  orgId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<ReplaySpan> {
  const kept = await keptRange(db, orgId)
  return {
    fromSeq: await seqAtTime(db, orgId, kept, from),
    endSeq: await seqAtTime(db, orgId, kept, to),
  }
}

/**
 * The entries from the cut to the head. Rows outside this range, from an interrupted pruning or an
 * unknown source, are not verified and must not be used.
 */
async function keptRange(db: Db, orgId: string): Promise<{ from: number; to: number }> {
  const from = await beginOf(db, orgId)
  const head = await db
    .selectFrom('ledger_head')
    .select('size')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return { from, to: Math.max(from, head?.size ?? from) }
}

const beginOf = async (db: Db, orgId: string): Promise<number> =>
  (await findCut(db, orgId))?.size ?? 0

/** Replays decisions and tracks the agents up to the current position. */
class Replayer {
  readonly #db: Db
  readonly #orgId: string
  readonly #trial: RuleTrial
  readonly tally: ReplayTally
  /** Null until a rule reads agents: most do not, and it requires a read of all earlier entries. */
  #agents: AgentHistory | null = null

  constructor(db: Db, orgId: string, trial: RuleTrial, limit: number) {
    this.#db = db
    this.#orgId = orgId
    this.#trial = trial
    this.tally = new ReplayTally(limit)
  }

  /** Evaluates up to `most` decisions from `from`; returns the number to continue with. */
  async page(from: number, end: number, most: number, isLate: () => boolean): Promise<number> {
    const to = Math.min(end, from + WINDOW)
    const rows = await this.#read([DECIDED, ...AGENT_KINDS], from, to, most)
    let judged = 0
    for (const row of rows) {
      if (row.kind !== DECIDED) this.#agents?.entry(row)
      else if (judged > 0 && isLate()) return row.seq
      else {
        await this.#decision(row)
        judged++
      }
    }
    const last = rows.at(-1)
    return last && rows.length === most ? last.seq + 1 : to
  }

  async #decision({ seq, recorded_at: at, payload }: Row): Promise<void> {
    if (payload === null) return this.tally.unreadable(seq, 'erased')
    const recorded = recordedDecision(this.#orgId, Date.parse(at), payload)
    if (!recorded) return this.tally.unreadable(seq, 'malformed')
    const { agent_id: agentId } = recorded.ask.request
    const said = () => reevaluate(recorded, this.#trial, this.#agents?.of(agentId) ?? null)
    let judged = said()
    if (judged.is === 'not_replayable' && judged.why === 'agent_unknown' && !this.#agents) {
      this.#agents = await this.#agentsBefore(seq)
      judged = said()
    }
    this.tally.judged(seq, recorded, judged)
  }

  async #agentsBefore(seq: number): Promise<AgentHistory> {
    const agents = new AgentHistory()
    for (const row of (await readCarriedEntries(this.#db, this.#orgId)).rows) agents.entry(row)
    for (let from = await beginOf(this.#db, this.#orgId); from < seq;) {
      const to = Math.min(seq, from + WINDOW)
      const rows = await this.#read(AGENT_KINDS, from, to, PAGE)
      for (const row of rows) agents.entry(row)
      const last = rows.at(-1)
      from = last && rows.length === PAGE ? last.seq + 1 : to
    }
    return agents
  }

  #read(kinds: readonly string[], from: number, to: number, limit: number): Promise<Row[]> {
    return this.#db
      .selectFrom('ledger_entry')
      .select(['seq', 'kind', 'recorded_at', 'agent_id', 'payload'])
      .where('org_id', '=', this.#orgId)
      .where('seq', '>=', from)
      .where('seq', '<', to)
      .where('kind', 'in', kinds)
      .orderBy('seq')
      .limit(limit)
      .execute()
  }
}

interface Row extends AgentEntry {
  readonly recorded_at: string
}

const MAX_RULES = 100

type RuleFlips = ReplayCounts['rules'][number]

const none = (): FlipCounts =>
  Object.fromEntries(FLIPS.map((kind) => [kind, 0])) as unknown as FlipCounts

const total = (counts: FlipCounts): number => FLIPS.reduce((sum, kind) => sum + counts[kind], 0)

/** Counts decisions in order, and keeps the first `limit` flips. */
class ReplayTally {
  readonly #limit: number
  readonly #unchanged = { judged: 0, denied_elsewhere: 0, not_in_plan: 0 }
  readonly #notReplayable = {
    erased: 0,
    policies_failed: 0,
    agent_unknown: 0,
    reason_unknown: 0,
    malformed: 0,
  }
  readonly #flipped = none()
  /** By the kind and id of the rule; by the word `policy` for the default effect. */
  readonly #byRule = new Map<string, RuleFlips>()
  readonly #flips: Flip[] = []
  decisions = 0
  #firstSeq: number | null = null
  #lastSeq: number | null = null

  constructor(limit: number) {
    this.#limit = limit
  }

  judged(seq: number, recorded: RecordedDecision, judged: ReevaluatedDecision): void {
    this.#see(seq)
    if (judged.is === 'unchanged') this.#unchanged[judged.why]++
    else if (judged.is === 'not_replayable') this.#notReplayable[judged.why]++
    else this.#flip(seq, recorded, judged)
  }

  unreadable(seq: number, why: 'erased' | 'malformed'): void {
    this.#see(seq)
    this.#notReplayable[why]++
  }

  counts(): ReplayCounts {
    const rules = [...this.#byRule]
      .toSorted(([a, one], [b, other]) => total(other) - total(one) || (a < b ? -1 : 1))
      .map(([, flips]) => flips)
    return {
      first_seq: this.#firstSeq,
      last_seq: this.#lastSeq,
      decisions: this.decisions,
      unchanged: this.#unchanged,
      flipped: this.#flipped,
      not_replayable: this.#notReplayable,
      rules: rules.slice(0, MAX_RULES),
      rules_omitted: Math.max(0, rules.length - MAX_RULES),
      flips: this.#flips,
      flips_omitted: total(this.#flipped) - this.#flips.length,
    }
  }

  #see(seq: number): void {
    this.decisions++
    this.#firstSeq ??= seq
    this.#lastSeq = seq
  }

  #flip(
    seq: number,
    { ask }: RecordedDecision,
    judged: Extract<ReevaluatedDecision, { is: 'flip' }>,
  ): void {
    const { kind, cause, by, was, wouldBe } = judged
    const key = cause === null ? by : `${by} ${cause}`
    const rule = by === 'policy' ? { policy: cause } : { policy: null, approval_rule: cause ?? '' }
    const ofRule: RuleFlips = this.#byRule.get(key) ?? { ...rule, ...none() }
    this.#byRule.set(key, ofRule)
    ofRule[kind]++
    this.#flipped[kind]++
    if (this.#flips.length >= this.#limit) return
    this.#flips.push({
      seq,
      decision_id: ask.decisionId,
      decided_at: isoTime(ask.now),
      agent_id: ask.request.agent_id,
      action: ask.request.action,
      resource: ask.resource,
      kind,
      cause,
      was,
      would_be: wouldBe,
    })
  }
}
