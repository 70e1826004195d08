import type { ResultToScore } from '@remit/contract'
import { Refusal } from '../threads/job.ts'
import type { Job } from '../threads/job.ts'
import { builtInScorers } from './built-in/index.ts'
import { checkFields } from './params.ts'
import { Unscorable, UnusableParam } from './scorer.ts'
import type { FieldName, PureScorer, ScoreOutcome } from './scorer.ts'

/** A part of a batch. JSON text is transferred to a thread faster than objects. */
interface ScoreTask {
  readonly scorer: string
  /** JSON of the params, as parsed by the schema of the scorer. */
  readonly params: string
  readonly results: readonly string[]
}

/** The class of an error is not transferred. */
type SentOutcome =
  | ScoreOutcome
  | {
      readonly unscorable: {
        readonly code: string
        readonly reason: string
        readonly field: FieldName | undefined
      }
    }

const byName = new Map(builtInScorers.map((scorer) => [scorer.name, scorer]))

/** Returns one outcome per result, in order. */
export const scoreJob: Job<ScoreTask, SentOutcome> = {
  name: 'score',
  run({ scorer: name, params, results }, tell) {
    const scorer = byName.get(name)
    if (!scorer) throw new Error(`the worker does not have the scorer ${name}`)
    const prepared = preparedFor(scorer, params)
    for (const result of results)
      tell(toSend(scoreOne(scorer, JSON.parse(result) as ResultToScore, prepared)))
  },
}

function preparedFor(scorer: (typeof builtInScorers)[number], params: string): unknown {
  try {
    return prepare(scorer, JSON.parse(params))
  } catch (error) {
    if (error instanceof UnusableParam)
      throw new Refusal({ param: error.param, message: error.message })
    throw error
  }
}

/** Converts a refusal of params from the thread. */
export function unusableParam({ reason }: Refusal): UnusableParam {
  const { param, message } = reason as { param: string; message: string }
  return new UnusableParam(param, message)
}

function toSend(outcome: ScoreOutcome | Unscorable): SentOutcome {
  if (!(outcome instanceof Unscorable)) return outcome
  const { code, message: reason, field } = outcome
  return { unscorable: { code, reason, field } }
}

export function received(sent: SentOutcome): ScoreOutcome | Unscorable {
  if (!('unscorable' in sent)) return sent
  const { code, reason, field } = sent.unscorable
  return new Unscorable(code, reason, field)
}

/** Scores one result with a pure scorer. For `prepared`, see `PureScorer.prepare`. */
export function scoreOne(
  scorer: PureScorer,
  result: ResultToScore,
  prepared: unknown,
): ScoreOutcome | Unscorable {
  try {
    checkFields(scorer, result)
    return scorer.score(result, prepared)
  } catch (error) {
    if (error instanceof Unscorable) return error
    throw error
  }
}

/** Returns the params for `score`. Throws `UnusableParam`. */
export const prepare = (scorer: PureScorer, params: unknown): unknown =>
  scorer.prepare ? scorer.prepare(params) : params
