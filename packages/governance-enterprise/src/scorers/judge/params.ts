import { z } from 'zod'
import type { Judge, Judges } from './judges.ts'
import type { Criterion, Task } from './task.ts'

const Name = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'must be 1 to 64 of A-Z, a-z, 0-9 and _, a letter first')
const Label = z
  .string()
  .regex(
    /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._+-]{0,62}[\p{L}\p{M}\p{N}.+-])?$/u,
    'must be 1 to 64 letters, digits, blanks and . _ + -, beginning with a letter or digit',
  )
const Text = z.string().min(1).max(10_000)
const Milliseconds = z.int().min(100).max(120_000)

const Criteria = z.union([
  Text,
  z
    .array(
      z.strictObject({
        name: Name,
        description: Text,
        weight: z.number().positive().max(1000).default(1),
      }),
    )
    .min(1)
    .max(10),
])

const shapeOf = (aliases: readonly string[]) => ({
  judge: (aliases.length > 0 ? z.enum(aliases) : z.string())
    .optional()
    .describe('A judge of this server; its default unless given'),
  mode: z
    .enum(['rubric', 'choices', 'pairwise'])
    .default('rubric')
    .describe('A label for each criterion; one label for the whole; output against expected'),
  criteria: Criteria.describe('What to judge by: a text, or up to 10 with names and weights'),
  choices: z
    .record(Label, z.number().min(0).max(1))
    .optional()
    .describe('Labels and their scores, {"pass": 1, "fail": 0} unless given; not in pairwise mode'),
  reasoning: z.boolean().default(true).describe('The judge gives its reasons before it picks'),
  samples: z.int().min(1).max(9).default(1).describe('How often the judge is asked'),
  aggregation: z.enum(['majority', 'mean', 'median']).default('majority'),
  position_swap: z
    .boolean()
    .optional()
    .describe('Pairwise: ask in both orders, and call it even where they disagree; on by default'),
  reference_free: z.boolean().default(false).describe('Do not show the judge `expected`'),
  max_output_tokens: z.int().min(16).max(64_000).default(1024),
  temperature: z.number().min(0).max(2).optional().describe('Sent only when given'),
  effort: z
    .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
    .optional()
    .describe('Of a reasoning model; sent only when given'),
  timeout_ms: Milliseconds.default(30_000).describe('For one call'),
  deadline_ms: Milliseconds.default(120_000).describe('For the request'),
  max_retries: z.int().min(0).max(5).default(2).describe('Of one call'),
  max_cost_usd: z.number().positive().max(1e6).optional().describe('For the request'),
  cache: z.enum(['use', 'refresh', 'off']).default('use'),
  dry_run: z.boolean().default(false).describe('Ask nobody; say what it would cost at most'),
})

type Given = z.output<z.ZodObject<ReturnType<typeof shapeOf>>>

/** The parameters of `llm_as_judge`, which become a `Task`. */
export const judgeParams = ({ byAlias, byDefault }: Judges) =>
  z.strictObject(shapeOf([...byAlias.keys()])).transform((given, context): Task => {
    const judge = given.judge === undefined ? byDefault : byAlias.get(given.judge)
    const faults = judge ? faultsOf(given, judge) : [noJudge(byAlias.size)]
    if (judge && faults.length === 0) return toTask(given, judge)
    for (const [path, message] of faults)
      context.addIssue({ code: 'custom', path: [path], message })
    return z.NEVER
  })

type Fault = readonly [path: string, message: string]

const noJudge = (count: number): Fault => [
  'judge',
  count === 0 ? 'this server has no judge: REMIT_JUDGES_FILE names none' : 'is needed',
]

function faultsOf(given: Given, judge: Judge): Fault[] {
  const faults: Fault[] = []
  const { mode, choices, criteria } = given
  if (mode === 'pairwise' && choices) faults.push(['choices', 'are not for pairwise mode'])
  if (mode === 'pairwise' && given.reference_free)
    faults.push(['reference_free', 'is not for pairwise mode: expected is the other answer'])
  if (mode !== 'pairwise' && given.position_swap !== undefined)
    faults.push(['position_swap', 'is for pairwise mode only'])
  if (choices) {
    const count = Object.keys(choices).length
    if (count < 2 || count > 20) faults.push(['choices', 'must be 2 to 20 labels'])
  }
  if (typeof criteria !== 'string') {
    const names = criteria.map(({ name }) => name)
    if (new Set(names).size < names.length) faults.push(['criteria', 'must have different names'])
  }
  if (given.max_cost_usd !== undefined && !judge.prices)
    faults.push(['max_cost_usd', `needs prices, which the judge ${judge.alias} does not have`])
  if (judge.provider === 'anthropic') {
    if (given.temperature !== undefined)
      faults.push(['temperature', 'is not for judges of Anthropic, whose API has none'])
    if (given.effort === 'none' || given.effort === 'minimal')
      faults.push(['effort', 'must be low, medium, high, xhigh or max for judges of Anthropic'])
  }
  return faults
}

const PAIR: Readonly<Record<string, number>> = { A: 1, tie: 0.5, B: 0 }
const PASS_OR_FAIL: Readonly<Record<string, number>> = { pass: 1, fail: 0 }

function toTask(given: Given, judge: Judge): Task {
  const { mode } = given
  const criteria: readonly Criterion[] =
    typeof given.criteria === 'string'
      ? [{ name: null, description: given.criteria, weight: 1 }]
      : given.criteria
  const choices = mode === 'pairwise' ? PAIR : (given.choices ?? PASS_OR_FAIL)
  return {
    judge,
    mode,
    criteria,
    questions: mode === 'rubric' ? criteria : [{ name: null, weight: 1 }],
    choices: new Map(Object.entries(choices).toSorted(([, a], [, b]) => b - a)),
    reasoning: given.reasoning,
    samples: given.samples,
    aggregation: given.aggregation,
    positionSwap: mode === 'pairwise' && given.position_swap !== false,
    referenceFree: given.reference_free,
    maxOutputTokens: given.max_output_tokens,
    temperature: given.temperature,
    effort: given.effort,
    timeoutMs: given.timeout_ms,
    deadlineMs: given.deadline_ms,
    maxRetries: given.max_retries,
    maxCostUsd: least(given.max_cost_usd, judge.maxCostUsd),
    cache: given.cache,
    dryRun: given.dry_run,
  }
}

const least = (asked: number | undefined, allowed: number | null): number | null =>
  asked === undefined ? allowed : Math.min(asked, allowed ?? asked)
