import type { AuthorizeRequest, BudgetState, Decision, Match, Plan, Reason } from '@remit/contract'
import type { Transaction } from 'kysely'
import type { Clock } from '../base/clock.ts'
import { BatchTime, DecisionMeter } from '../computing/computing.ts'
import { isConflict, unavailable } from '../db/failure.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { fail } from '../base/errors.ts'
import type { Caller } from '../caller/caller.ts'
import { missingHead } from '../ledger/write/head-guard.ts'
import { findHead, lockHead } from '../ledger/store/store.ts'
import { RetryBatch } from '../ledger/write/work.ts'
import type { HeavyWorkQueue } from '../threads/heavy-work-queue.ts'
import { decide, unseenPlaces, resourceText } from './decide.ts'
import type { DecisionResult, Observations, RuleVerdicts, Slots } from './decide.ts'
import { DecisionBatch, OverlaidRules } from './batch.ts'
import type { DecisionStages } from './batch.ts'
import type { Ask, Overlay, Slot, StageVerdict, ClaimedFacts } from './stage.ts'

export interface PreviewOptions {
  /** Time of the decision in milliseconds. Default: the current time, as for a live decision. */
  readonly at?: number
  /** Rules to try; a stage without `overlay` keeps its own. */
  readonly overlay?: Overlay
  readonly caller?: Caller | null
  /** Facts of the protocol of all requests. */
  readonly claims?: ClaimedFacts
  /** Stages that are left out, because their effects were applied before. */
  readonly without?: ReadonlySet<Slot>
}

/** The verdict of a stage, in the order of the slots; the last step is the one that decided. */
export interface PreviewStep {
  readonly stage: Slot
  readonly verdict: StageVerdict['verdict']
  readonly reason?: Reason
  readonly message?: string
  readonly matched?: readonly Match[]
}

export interface Preview extends Observations {
  readonly decision: Decision
  readonly reason: Reason
  readonly message: string
  readonly matched: readonly Match[]
  readonly trace: readonly PreviewStep[]
  readonly budgets?: BudgetState[]
  readonly budgets_omitted?: number
  readonly retry_at?: string | null
  readonly warnings: readonly string[]
}

interface PreviewDeps {
  readonly db: Database<CoreTables>
  readonly clock: Clock
  readonly stages: DecisionStages
  /** The share of the event loop that previews compute in, a few milliseconds at a time. */
  readonly heavyWork: HeavyWorkQueue
}

type Tx = Transaction<CoreTables>

interface PreviewPass {
  readonly judged: readonly RuleVerdicts[]
  readonly now: number
  readonly version: number
}

const MAX_ATTEMPTS = 6

// Number of requests that one transaction prepares, so that its connection is soon free again.
const PART = 100

/** Below the deadline of a request, so that no work is done for an abandoned request. */
const MAX_MS = 20_000

/** SQLSTATE `read_only_sql_transaction`. */
const isReadOnly = (error: unknown): boolean => (error as { code?: unknown }).code === '25006'

/**
 * Returns the decisions that `authorize` would make, with the same stages and the same pure
 * `decide`, but without effects: no entry, no hold, no approval request, no use of an approval.
 * Each request is decided independently, with the same rules and at the same time. Stages may write
 * while they prepare, so their transaction is always rolled back.
 *
 * On PostgreSQL it reads a snapshot without locks, so that no decision waits for it. Only if a
 * stage has to write, it is repeated under the ledger lock, which keeps the lock order of all
 * writers. All deciding happens after the lock is released, a few milliseconds at a time, so that
 * other requests and previews get their turns.
 */
export async function preview(
  { db, clock, stages, heavyWork }: PreviewDeps,
  orgId: string,
  plan: Plan,
  requests: readonly AuthorizeRequest[],
  { at, overlay, caller = null, claims = {}, without }: PreviewOptions,
): Promise<Preview[]> {
  const until = performance.now() + MAX_MS
  let previews: Preview[] = []
  let begun: Pick<PreviewPass, 'now' | 'version'> | null = null
  const overlaid = overlay && new OverlaidRules(overlay)
  let batch = new DecisionBatch(stages, orgId, overlaid)
  let locked = false
  let attempts = 0
  const isLast = () => ++attempts >= MAX_ATTEMPTS
  while (previews.length < requests.length) {
    const part = requests.slice(previews.length, previews.length + PART)
    const asksAt = (now: number) =>
      part.map((one) => askOf({ orgId, plan, caller, claims, now }, one))
    const time: number | undefined = at ?? begun?.now
    const ready = async (tx: Tx): Promise<PreviewPass> => {
      const head = await (locked ? lockHead(tx, orgId) : findHead(tx, orgId))
      if (!head) throw missingHead()
      const now = time ?? Math.max(clock.now(), Date.parse(head.recorded_at))
      const asks = asksAt(now)
      const view = {
        orgId,
        tx,
        now,
        configVersion: head.config_version,
        organization: await stages.versions.at(tx, head),
        time: new BatchTime(),
      }
      return { judged: await batch.prepare(asks, view), now, version: head.config_version }
    }
    await batch.gather(() => asksAt(time ?? clock.now()))
    try {
      // On SQLite every decision waits for this transaction, so a preview takes its turn for it too.
      const { judged, ...seen } = await heavyWork.run(orgId, () => undone(db, locked, ready))
      if (begun && begun.version !== seen.version) {
        if (isLast()) throw unavailable('overloaded')
        previews = []
        begun = null
      } else {
        begun ??= seen
        const slots = without ? leavingOut(batch.slots, without) : batch.slots
        const decideOne = (one: RuleVerdicts) => previews.push(shown(decide(one.ask, slots, one)))
        await inSlices(judged, decideOne, (slice) => heavyWork.run(orgId, slice), until)
      }
      batch = new DecisionBatch(stages, orgId, overlaid)
    } catch (error) {
      if (!locked && isReadOnly(error)) locked = true
      else if (!(error instanceof RetryBatch || isConflict(error))) throw error
      else if (isLast()) throw unavailable('overloaded')
    }
  }
  return previews
}

const leavingOut = (slots: Slots, without: ReadonlySet<Slot>): Slots =>
  new Map([...slots].filter(([slot]) => !without.has(slot)))

const SLICE_MS = 5

/** Works in slices, and aborts work that takes too long. */
async function inSlices<T>(
  items: readonly T[],
  step: (item: T) => void,
  run: (slice: () => void) => Promise<void>,
  until: number,
): Promise<void> {
  let at = 0
  while (at < items.length) {
    await run(() => {
      const begun = performance.now()
      if (begun > until)
        throw fail(
          'deadline_exceeded',
          'The requests take too long to evaluate together; send fewer',
        )
      for (; at < items.length && performance.now() - begun < SLICE_MS; at++) step(items[at] as T)
    })
  }
}

/** Returns the result of work whose transaction is always rolled back. */
async function undone<T>(
  db: Database<CoreTables>,
  mayWrite: boolean,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const begin = db.startTransaction()
  const tx = await (
    mayWrite ? begin : begin.setIsolationLevel('repeatable read').setAccessMode('read only')
  ).execute()
  try {
    return await work(tx)
  } finally {
    await tx.rollback().execute()
  }
}

const askOf = (
  asked: Pick<Ask, 'orgId' | 'plan' | 'caller' | 'claims' | 'now'>,
  request: AuthorizeRequest,
): Ask => ({
  ...asked,
  meter: new DecisionMeter(),
  request,
  claims: request.subject ? { subject: request.subject, ...asked.claims } : asked.claims,
  resource: resourceText(request.resource),
  decisionId: 'dec_preview',
})

const shown = ({
  ask,
  decision,
  reason,
  message,
  matched,
  answer: { budgets, budgets_omitted, retry_at },
  data: { observed, observed_incomplete },
  trace,
  warnings,
}: DecisionResult): Preview => ({
  decision,
  reason,
  message,
  matched,
  trace: trace.map(({ slot, verdict }) => step(slot, verdict)),
  ...(budgets && { budgets }),
  ...(budgets_omitted !== undefined && { budgets_omitted }),
  ...(retry_at !== undefined && { retry_at }),
  ...(observed && { observed }),
  ...(observed_incomplete && { observed_incomplete }),
  warnings: [...warnings, ...unseenPlaces(ask.request)],
})

const step = (stage: Slot, said: StageVerdict): PreviewStep => ({
  stage,
  verdict: said.verdict,
  ...(said.reason && { reason: said.reason }),
  ...(said.verdict !== 'pass' && { message: said.message }),
  ...(said.notes?.matched && { matched: said.notes.matched }),
})
