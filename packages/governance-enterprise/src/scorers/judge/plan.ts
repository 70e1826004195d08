import { createHash } from 'node:crypto'
import type { ResultToScore } from '@remit/contract'
import { canonicalJson, Unscorable } from '@remit/core'
import { judgedFields } from './fields.ts'
import type { JudgedFields } from './fields.ts'
import { PROMPT_VERSION } from './prompt.ts'
import type { AnswerOrder } from './prompt.ts'
import { isInjectionSuspected } from './suspicion.ts'
import type { JudgeTask } from './task.ts'

/** The calls for one result. */
export interface JudgePlan {
  readonly fields: JudgedFields
  readonly isInjectionSuspected: boolean
  /** The calls of each sample: one, or one per order. */
  readonly samples: readonly (readonly PlannedCall[])[]
}

export interface PlannedCall {
  readonly order: AnswerOrder
  /** The cache key of its verdict. */
  readonly key: string
}

/** A plan, or the reason why there is none. */
export function planOf(task: JudgeTask, result: ResultToScore): JudgePlan | Unscorable {
  try {
    const fields = judgedFields(result, task)
    const content = contentHash(task, fields)
    const orders = ordersOf(task, content)
    return {
      fields,
      isInjectionSuspected: isInjectionSuspected(fields),
      samples: Array.from({ length: task.samples }, (_, sample) =>
        orders.map((order) => ({ order, key: hash(`${content} ${order} ${sample}`) })),
      ),
    }
  } catch (error) {
    if (error instanceof Unscorable) return error
    throw error
  }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * Hashes everything that a verdict depends on. Weights and scores are applied to verdicts
 * afterwards.
 */
const contentHash = (task: JudgeTask, fields: JudgedFields): string =>
  hash(
    canonicalJson({
      choices: [...task.choices.keys()],
      criteria: task.criteria.map(({ name, description }) => ({ name, description })),
      effort: task.effort ?? null,
      fields,
      judge: [task.judge.alias, task.judge.provider, task.judge.baseUrl, task.judge.model],
      mode: task.mode,
      prompt_version: PROMPT_VERSION,
      reasoning: task.reasoning,
      temperature: task.temperature ?? null,
    }),
  )

/**
 * With a single order, the content determines it: over many results, each order is equally
 * frequent.
 */
function ordersOf({ mode, positionSwap }: JudgeTask, content: string): readonly AnswerOrder[] {
  if (mode !== 'pairwise') return [null]
  if (positionSwap) return ['output_first', 'expected_first']
  return [Number.parseInt(content.slice(0, 2), 16) % 2 === 0 ? 'output_first' : 'expected_first']
}
