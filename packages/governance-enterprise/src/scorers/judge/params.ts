import { z } from 'zod'
import type { Judge, Judges } from './judges.ts'

const Name = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, {
  error: 'must be 1 to 64 characters of A-Z, a-z, 0-9 and _, starting with a letter',
})
const Label = z
  .string()
  .regex(/^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._+-]{0,62}[\p{L}\p{M}\p{N}.+-])?$/u, {
    error: 'must be 1 to 64 letters, digits, spaces and . _ + -, starting with a letter or digit',
  })
const Text = z.string().min(1).max(10_000)
const Milliseconds = z.int().min(100).max(120_000)

const Weighted = z.strictObject({
  name: Name,
  description: Text,
  weight: z.number().positive().max(1000).default(1),
})

/** One text is a criterion without a name. */
const Criteria = z.union([
  Text.transform((description) => [{ name: null, description, weight: 1 }]),
  z.array(Weighted).min(1).max(10),
])

const shapeOf = (aliases: readonly string[]) => ({
  judge: (aliases.length > 0 ? z.enum(aliases) : z.string())
    .optional()
    .describe('The alias of a judge; by default, the default judge of the server'),
  mode: z
    .enum(['rubric', 'choices', 'pairwise'])
    .default('rubric')
    .describe('A label for each criterion; one label for the whole; output against expected'),
  criteria: Criteria.describe('The criteria: one text, or up to 10 with names and weights'),
  choices: z
    .record(Label, z.number().min(0).max(1))
    .optional()
    .describe('Labels and their scores, by default {"pass": 1, "fail": 0}; not in pairwise mode'),
  reasoning: z.boolean().default(true).describe('Request the reasoning before the label'),
  samples: z.int().min(1).max(9).default(1).describe('The number of samples of each item'),
  aggregation: z.enum(['majority', 'mean', 'median']).default('majority'),
  position_swap: z
    .boolean()
    .optional()
    .describe(
      'Pairwise mode: compare in both orders and score a disagreement as a tie; on by default',
    ),
  reference_free: z.boolean().default(false).describe('Hide `expected` from the judge'),
  max_output_tokens: z.int().min(16).max(64_000).default(1024),
  temperature: z.number().min(0).max(2).optional().describe('Sent only if set'),
  effort: z
    .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
    .optional()
    .describe('The reasoning effort; sent only if set'),
  timeout_ms: Milliseconds.default(30_000).describe('The timeout of one call'),
  deadline_ms: Milliseconds.default(120_000).describe('The deadline of the request'),
  max_retries: z.int().min(0).max(5).default(2).describe('Retries of one call'),
  max_cost_usd: z.number().positive().max(1e6).optional().describe('The cost limit of the request'),
  cache: z.enum(['use', 'refresh', 'off']).default('use'),
  dry_run: z
    .boolean()
    .default(false)
    .describe('Estimate the maximum cost without calling the judge'),
})

type Given = z.output<z.ZodObject<ReturnType<typeof shapeOf>>>

/** The task of a judge: the validated parameters of a request. */
export interface JudgeTask extends Readonly<Omit<Given, 'judge' | 'choices'>> {
  readonly judge: Judge
  /** The lower limit of the request and of the judge, or `Infinity`. */
  readonly max_cost_usd: number
  /** The criteria that get a label each; empty if the whole gets one. */
  readonly names: readonly string[]
  /** Labels with their scores, from best to worst. */
  readonly choices: ReadonlyMap<string, number>
}

const NO_JUDGE = 'this server has no judges; configure them in REMIT_JUDGES_FILE'

/** Validates the parameters of `llm_as_judge` into a `JudgeTask`. */
export const judgeParams = ({ byAlias, byDefault }: Judges) =>
  z.strictObject(shapeOf([...byAlias.keys()])).transform((given, context): JudgeTask => {
    const judge = given.judge === undefined ? byDefault : byAlias.get(given.judge)
    const faults: Iterable<Fault> = judge
      ? faultsOf(given, judge)
      : [['judge', byAlias.size === 0 ? NO_JUDGE : 'is needed']]
    for (const [name, message] of faults)
      context.addIssue({ code: 'custom', path: [name], message })
    return judge ? toTask(given, judge) : z.NEVER
  })

type Fault = readonly [name: keyof Given, message: string]

/** The faults of parameters of which each has a valid shape. */
function* faultsOf(given: Given, judge: Judge): Generator<Fault> {
  const { mode, choices, criteria, effort } = given
  const isPair = mode === 'pairwise'
  if (isPair && choices) yield ['choices', 'are not allowed in pairwise mode']
  if (isPair && given.reference_free)
    yield ['reference_free', 'is not allowed in pairwise mode: expected is the other answer']
  if (!isPair && given.position_swap !== undefined)
    yield ['position_swap', 'is only allowed in pairwise mode']
  const labels = choices ? Object.keys(choices).length : 2
  if (labels < 2 || labels > 20) yield ['choices', 'must be 2 to 20 labels']
  const names = criteria.map(({ name }) => name)
  if (new Set(names).size < names.length) yield ['criteria', 'must have unique names']
  if (given.max_cost_usd !== undefined && !judge.prices)
    yield ['max_cost_usd', `requires prices, and the judge ${judge.alias} has none`]
  if (judge.provider !== 'anthropic') return
  if (given.temperature !== undefined)
    yield ['temperature', 'is not supported for Anthropic judges']
  if (effort === 'none' || effort === 'minimal')
    yield ['effort', 'must be low, medium, high, xhigh or max for Anthropic judges']
}

const PAIR = { A: 1, tie: 0.5, B: 0 }
const PASS_OR_FAIL = { pass: 1, fail: 0 }

function toTask(given: Given, judge: Judge): JudgeTask {
  const { mode, criteria, choices = PASS_OR_FAIL, max_cost_usd: most = Infinity } = given
  const scores: Readonly<Record<string, number>> = mode === 'pairwise' ? PAIR : choices
  return {
    ...given,
    judge,
    names: mode === 'rubric' ? criteria.flatMap(({ name }) => name ?? []) : [],
    choices: new Map(Object.entries(scores).toSorted(([, a], [, b]) => b - a)),
    position_swap: mode === 'pairwise' && given.position_swap !== false,
    max_cost_usd: Math.min(most, judge.max_cost_usd ?? Infinity),
  }
}
