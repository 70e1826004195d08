import { setImmediate } from 'node:timers/promises'
import { findCut, recordedDecision, seqAtTime } from '@remit/core'
import type { Database, OpenTrial, RuleTrial } from '@remit/core'
import type { ReplayCounts, ReplayResult, ReplaySpan, ReplayTask } from '../jobs/replay.ts'
import type { Tables } from '../tables/schema.ts'
import { readCarried } from '../verify/carried-rows.ts'
import { AGENT_KINDS, AgentsThen } from './agents-then.ts'
import { judgeAnew } from './judge.ts'
import { Tally } from './tally.ts'

type Db = Database<Tables>

// A decision has 256 KiB at most, and few have one.
const PAGE = 256
/** Sequence numbers looked through in one query, where decisions are rare. */
const WINDOW = 20_000
const DECIDED = 'authorization.decided'

/**
 * Judges the recorded decisions of a period anew. Reads page by page, so that it needs the same memory
 * for every period, and ends after so many decisions or so much time, with what is left of the period.
 * Null where the rules are not those of the earlier part. Whoever else shares the thread has a turn
 * after every page, and `onProgress` hears of it: of so many sequence numbers so many are done.
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
  // An earlier part may have ended below where the ledger begins now.
  const span = { ...asked, fromSeq: Math.max(asked.fromSeq, await beginOf(db, orgId)) }
  const judge = new Replayer(db, orgId, trial, task.limit)
  const started = performance.now()
  const isLate = () => performance.now() - started > task.maxMs
  let at = span.fromSeq
  // Late or not, every part gets a little further.
  while (at < span.endSeq && judge.decisions < task.maxDecisions) {
    const most = Math.min(PAGE, task.maxDecisions - judge.decisions)
    at = await judge.page(at, span.endSeq, most, isLate)
    onProgress(at - span.fromSeq, span.endSeq - span.fromSeq)
    if (isLate()) break
    await setImmediate()
  }
  const { policies, approvalRules, defaultEffect, digest } = trial
  return {
    counts: judge.counts(),
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
 * The entries from the cut to the head. Below there may be some that a pruning which was interrupted has
 * left, and what stands beyond nobody recorded: nothing verifies them, and nobody is given them.
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

/** Goes through the ledger, and knows what it said of agents up to where it is. */
class Replayer {
  readonly #db: Db
  readonly #orgId: string
  readonly #trial: RuleTrial
  readonly #tally: Tally
  /** Null until a rule asks: most do not, and reading it takes a look at every entry before. */
  #agents: AgentsThen | null = null

  constructor(db: Db, orgId: string, trial: RuleTrial, limit: number) {
    this.#db = db
    this.#orgId = orgId
    this.#trial = trial
    this.#tally = new Tally(limit)
  }

  get decisions(): number {
    return this.#tally.decisions
  }

  counts(): ReplayCounts {
    return this.#tally.counts()
  }

  /** Judges up to `most` decisions from `from` on; returns the number to go on with. */
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
    if (payload === null) return this.#tally.unreadable(seq, 'erased')
    const recorded = recordedDecision(this.#orgId, Date.parse(at), payload)
    if (!recorded) return this.#tally.unreadable(seq, 'malformed')
    const { agent_id: agentId } = recorded.ask.request
    const said = () => judgeAnew(recorded, this.#trial, this.#agents?.of(agentId) ?? null)
    let judged = said()
    if (judged.is === 'not_replayable' && judged.why === 'agent_unknown' && !this.#agents) {
      this.#agents = await this.#agentsBefore(seq)
      judged = said()
    }
    this.#tally.judged(seq, recorded, judged)
  }

  async #agentsBefore(seq: number): Promise<AgentsThen> {
    const agents = new AgentsThen()
    for (const row of (await readCarried(this.#db, this.#orgId)).rows) agents.entry(row)
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

interface Row {
  readonly seq: number
  readonly kind: string
  readonly recorded_at: string
  readonly agent_id: string | null
  readonly payload: string | null
}
