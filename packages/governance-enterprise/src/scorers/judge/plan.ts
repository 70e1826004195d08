import { createHash } from 'node:crypto'
import type { ResultToScore } from '@remit/contract'
import { canonicalJson, checkContent, Unscorable } from '@remit/core'
import type { JudgeTask } from './params.ts'
import { PROMPT_VERSION } from './prompt.ts'
import type { AnswerOrder, JudgedFields } from './prompt.ts'

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

/** A plan, or the reason why there is none: nothing to compare with, or too much text. */
export function planOf(task: JudgeTask, result: ResultToScore): JudgePlan | Unscorable {
  const fields = judgedFields(result, task)
  if (task.mode === 'pairwise' && !fields.some(([name]) => name === 'expected'))
    return new Unscorable('missing_field', 'expected is missing', 'expected')
  const length = fields.reduce((sum, [, value]) => sum + textOf(value, JSON.stringify).length, 0)
  if (length > MAX_CHARACTERS) {
    const reason = `the fields are longer than ${MAX_CHARACTERS} characters`
    return new Unscorable('limit_exceeded', reason)
  }
  const content = contentHash(task, fields)
  const orders = ordersOf(task, content)
  return {
    fields,
    isInjectionSuspected: isInjectionSuspected(fields),
    samples: Array.from({ length: task.samples }, (_, sample) =>
      orders.map((order) => ({ order, key: hash(`${content} ${order} ${sample}`) })),
    ),
  }
}

const MAX_CHARACTERS = 200_000
/** The fields of a result that the judge sees, if present. */
const READ = ['input', 'context', 'expected', 'tool_calls', 'trajectory', 'output'] as const

const judgedFields = (result: ResultToScore, { reference_free: isFree }: JudgeTask): JudgedFields =>
  READ.flatMap((name) => {
    const value: unknown = result[name]
    const isLeftOut = value === undefined || value === null
    return isLeftOut || (name === 'expected' && isFree) ? [] : [[name, value] as const]
  })

const textOf = (value: unknown, toJson: (value: unknown) => string): string =>
  typeof value === 'string' ? value : toJson(value)

/** Returns whether the guard finds instructions or hidden text in a judged field. A hint only. */
const isInjectionSuspected = (fields: JudgedFields): boolean =>
  fields.some(
    ([name, value]) =>
      checkContent({
        content: textOf(value, canonicalJson),
        // Answers and documents have no reason to contain instructions; user input may.
        source: name === 'input' ? 'user' : 'document',
        direction: 'input',
        sensitivity: 'balanced',
        checks: ['injection', 'invisible'],
        explain: false,
      }).flagged,
  )

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
      judge: [task.judge.alias, task.judge.provider, task.judge.base_url, task.judge.model],
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
function ordersOf({ mode, position_swap }: JudgeTask, content: string): readonly AnswerOrder[] {
  if (mode !== 'pairwise') return [null]
  if (position_swap) return ['output_first', 'expected_first']
  return [Number.parseInt(content.slice(0, 2), 16) % 2 === 0 ? 'output_first' : 'expected_first']
}
