import { createHmac, hash } from 'node:crypto'
import type { ResultToScore } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import { inspectContent as checkContent } from '@remit/core/guard'
import { Unscorable } from '@remit/core/scorers'
import type { JudgeFailure } from './post.ts'
import type { JudgeTask } from './params.ts'
import { PROMPT_VERSION, promptOf } from './providers.ts'
import type { AnswerOrder, JudgedFields, Prompt } from './providers.ts'
import type { Attempt } from './usage.ts'
import type { JudgeVerdict } from './verdict.ts'

export interface JudgePlan {
  readonly isInjectionSuspected: boolean
  /** The calls of each sample: one, or one per order. */
  readonly samples: readonly (readonly JudgeCall[])[]
}

/** A plan, or the reason why there is none: nothing to compare with, or too much text. */
export type Planned = JudgePlan | Unscorable

/** A question to the judge, and its verdict or failure once there is one. */
export interface JudgeCall {
  readonly order: AnswerOrder
  readonly key: string
  /** Not a value: the prompts of all calls would use too much memory. */
  readonly prompt: (fault: string | null) => Prompt
  /** Exchanges with the judge's server. */
  readonly attempts: Attempt[]
  verdict?: JudgeVerdict | undefined
  failure?: JudgeFailure
  latencyMs: number
}

/** `secret` belongs to this process, and makes the ids of blocks unpredictable. */
export function planOf(task: JudgeTask, result: ResultToScore, secret: Uint8Array): Planned {
  const fields = judgedFields(result, task)
  if (task.mode === 'pairwise' && !fields.some(([name]) => name === 'expected'))
    return new Unscorable('missing_field', 'expected is missing', 'expected')
  const length = fields.reduce((sum, [, value]) => sum + textOf(value).length, 0)
  if (length > MAX_CHARACTERS) {
    const reason = `the fields are longer than ${MAX_CHARACTERS} characters`
    return new Unscorable('limit_exceeded', reason)
  }
  const content = contentHash(task, fields)
  const blockId = createHmac('sha256', secret).update(content).digest('hex').slice(0, 32)
  const orders = ordersOf(task, content)
  const samples = Array.from({ length: task.samples }, (_, sample) =>
    orders.map((order): JudgeCall => ({
      order,
      key: hash('sha256', `${content} ${order} ${sample}`),
      prompt: (fault) => promptOf(task, fields, order, blockId, fault),
      attempts: [],
      latencyMs: 0,
    })),
  )
  return { isInjectionSuspected: isInjectionSuspected(fields), samples }
}

const MAX_CHARACTERS = 200_000
/** The fields of a result that the judge sees, if present. */
const READ = ['input', 'context', 'expected', 'tool_calls', 'trajectory', 'output'] as const

const judgedFields = (result: ResultToScore, { reference_free: isFree }: JudgeTask): JudgedFields =>
  READ.filter((name) => name !== 'expected' || !isFree)
    .map((name) => [name, result[name]] as const)
    .filter(([, value]) => value !== undefined && value !== null)

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : canonicalJson(value)

/** Returns whether the guard finds instructions or hidden text in a judged field. A hint only. */
const isInjectionSuspected = (fields: JudgedFields): boolean =>
  fields.some(
    ([name, value]) =>
      checkContent({
        content: textOf(value),
        // Answers and documents have no reason to contain instructions; user input may.
        source: name === 'input' ? 'user' : 'document',
        direction: 'input',
        sensitivity: 'balanced',
        checks: ['injection', 'invisible'],
        explain: false,
      }).flagged,
  )

/** Hashes everything that a verdict depends on. Weights and scores are applied to verdicts. */
const contentHash = (task: JudgeTask, fields: JudgedFields): string =>
  hash(
    'sha256',
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

/** A single order depends on the content: over many results, each is equally frequent. */
function ordersOf({ mode, position_swap }: JudgeTask, content: string): readonly AnswerOrder[] {
  if (mode !== 'pairwise') return [null]
  if (position_swap) return ['output_first', 'expected_first']
  return [Number.parseInt(content.slice(0, 2), 16) % 2 === 0 ? 'output_first' : 'expected_first']
}
