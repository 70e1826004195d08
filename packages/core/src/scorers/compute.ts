import type { ResultToScore } from '@remit/contract'
import { computedMs } from '../base/cpu-time.ts'
import { Refusal } from '../threads/job.ts'
import type { Computer } from '../threads/pool.ts'
import { received, scoreJob, unusableParam } from './score-job.ts'
import { prepare, scoreOne } from './score-one.ts'
import { Unscorable } from './scorer.ts'
import type { PureScorer, ScoreOutcome } from './scorer.ts'
import { sliced } from '../computing/slices.ts'
import type { Pacing } from '../computing/slices.ts'

export interface ComputeContext extends Pacing {
  /** Absent on the command line: everything is computed on the event loop. */
  readonly computer?: Computer | undefined
  /** The organization that the work is for. */
  readonly owner: string
  /** Computing time of a whole batch, in milliseconds. */
  readonly budgetMs: number
  /** CPU time of this thread in milliseconds. Default: `computedMs`. */
  readonly computed?: () => number
  /** Called with the number of finished results. */
  readonly progress?: (done: number) => void
}

type Outcome = ScoreOutcome | Unscorable

// A part takes a worker a few milliseconds, so that batches take turns.
const PART_LENGTH = 64 * 1024
const PART_RESULTS = 200

/** Returns one outcome per result. Throws `UnusableParam`. */
export async function compute(
  scorer: PureScorer,
  params: unknown,
  results: readonly ResultToScore[],
  context: ComputeContext,
): Promise<Outcome[]> {
  const { computer } = context
  const inline = scorer.inlineLength ?? Number.POSITIVE_INFINITY
  if (!computer || isShort(scorer, results, inline))
    return computeHere(scorer, params, results, context)
  return computeApart(scorer, params, results, context, computer)
}

async function computeHere(
  scorer: PureScorer,
  params: unknown,
  results: readonly ResultToScore[],
  context: ComputeContext,
): Promise<Outcome[]> {
  const prepared = prepare(scorer, params)
  const outcomes: Outcome[] = []
  const rest = sliced(context)
  const { computed = computedMs } = context
  let spent = 0
  for (const result of results) {
    const before = computed()
    outcomes.push(
      spent > context.budgetMs ? outOfTime(context) : scoreOne(scorer, result, prepared),
    )
    spent += computed() - before
    context.progress?.(outcomes.length)
    await rest()
  }
  return outcomes
}

async function computeApart(
  scorer: PureScorer,
  params: unknown,
  results: readonly ResultToScore[],
  context: ComputeContext,
  computer: Computer,
): Promise<Outcome[]> {
  const task = { scorer: scorer.name, params: JSON.stringify(params) }
  const outcomes: Outcome[] = []
  let left = context.budgetMs
  let most = PART_RESULTS
  while (outcomes.length < results.length) {
    if (left <= 0) {
      outcomes.push(outOfTime(context))
      continue
    }
    const part = partOf(scorer, results, outcomes.length, most)
    const input = { ...task, results: part }
    const answer = await computer
      .run(context.owner, scoreJob, input, left)
      .catch((error: unknown) => {
        throw error instanceof Refusal ? unusableParam(error) : error
      })
    left = answer.ended === 'time' ? 0 : left - answer.spentMs
    outcomes.push(...answer.parts.map(received))
    if (answer.ended !== 'memory') continue
    // Retries each result in a separate worker to find the one at fault.
    if (part.length === 1) outcomes.push(outOfMemory())
    most = 1
  }
  return outcomes
}

function partOf(
  scorer: PureScorer,
  results: readonly ResultToScore[],
  from: number,
  most: number,
): string[] {
  const part: string[] = []
  let length = 0
  for (const result of results.slice(from, from + most)) {
    const text = textFor(scorer, result)
    length += text.length
    if (part.length > 0 && length > PART_LENGTH) break
    part.push(text)
  }
  return part
}

function isShort(scorer: PureScorer, results: readonly ResultToScore[], most: number): boolean {
  if (most === Number.POSITIVE_INFINITY) return true
  let length = 0
  for (const result of results) {
    if (length >= most) return false
    length += textFor(scorer, result).length
  }
  return length < most
}

/** Returns only the fields that the scorer reads. */
function textFor(scorer: PureScorer, result: ResultToScore): string {
  const read: Partial<Record<string, unknown>> = {}
  for (const field of Object.keys(scorer.fields) as (keyof typeof scorer.fields)[])
    if (result[field] !== undefined) read[field] = result[field]
  return JSON.stringify(read)
}

const outOfTime = ({ budgetMs }: ComputeContext): Unscorable =>
  new Unscorable(
    'time_budget_exceeded',
    `the request exceeded its computing time of ${budgetMs / 1000} s`,
  )

const outOfMemory = (): Unscorable =>
  new Unscorable('limit_exceeded', 'the result exceeded its memory limit')
