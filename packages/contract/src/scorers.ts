import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { component, FreeForm, mapOf, page, Paging, Share, strictComponent } from './primitives.ts'

const Json = z.unknown().describe('Any JSON value; a missing value is null')
const JsonList = z.array(z.unknown()).nullable()
const Vector = z.array(z.number()).nullable()

/**
 * One result to score. The shapes are loose on purpose: the output of the system under test may be
 * invalid, and an error in one result must not reject the others.
 */
export const ResultToScore = strictComponent('ResultToScore', {
  id: z.string().max(256).optional(),
  input: Json.optional(),
  output: Json.optional().describe('Output of the system under test; any JSON value'),
  expected: Json.optional().describe('The expected output; a list contains alternatives'),
  context: JsonList.optional(),
  tool_calls: JsonList.optional(),
  expected_tool_calls: JsonList.optional(),
  trajectory: JsonList.optional().describe('Steps: names or objects with a name'),
  expected_trajectory: JsonList.optional(),
  output_embedding: Vector.optional(),
  expected_embedding: Vector.optional(),
  latency_ms: z.number().nullable().optional(),
  cost_usd: z.number().nullable().optional(),
  metadata: FreeForm.nullable().optional(),
})
export type ResultToScore = z.infer<typeof ResultToScore>

export const ScorersRequest = strictComponent('ScorersRequest', {
  scorer: z.string().min(1).max(128),
  params: mapOf(z.string(), z.unknown()).optional(),
  threshold: Share.optional().describe(
    'Lowest score that passes. Default: the threshold of the scorer',
  ),
  results: z.array(ResultToScore).min(1).max(1000),
})
export type ScorersRequest = z.infer<typeof ScorersRequest>

export const Score = component('Score', {
  id: z.string().nullable(),
  index: z.int(),
  score: Share.nullable().describe('null if the result cannot be scored; not counted as 0'),
  passed: z.boolean().nullable(),
  reason: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  error: z.object({ code: z.string(), field: z.string().optional() }).nullable(),
})
export type Score = z.infer<typeof Score>

const Interval = z
  .object({ low: z.number(), high: z.number(), level: z.number(), method: z.string() })
  .nullable()
const Statistic = z.number().nullable()

/** Statistics over the scored results; null if there are too few of them. */
export const ScoreAggregate = component('ScoreAggregate', {
  count: z.int(),
  scored: z.int(),
  errors: z.int(),
  errors_by_code: z.record(z.string(), z.int()),
  mean: Statistic,
  median: Statistic,
  stddev: Statistic,
  stderr: Statistic,
  min: Statistic,
  max: Statistic,
  pass_rate: Statistic,
  pass_rate_ci: Interval,
  mean_ci: Interval,
  corpus_score: Statistic,
  metadata: z
    .record(z.string(), z.unknown())
    .describe('Facts about the whole batch, such as its cost'),
})
export type ScoreAggregate = z.infer<typeof ScoreAggregate>

export const ScorersAnswer = component('ScorersAnswer', {
  scorer: z.string(),
  scorer_version: z.string(),
  threshold: z.number(),
  scores: z.array(Score),
  aggregate: ScoreAggregate,
  duration_ms: z.int(),
})
export type ScorersAnswer = z.infer<typeof ScorersAnswer>

export const ScorerInfo = component('ScorerInfo', {
  name: z.string(),
  version: z.string(),
  description: z.string(),
  edition: z.enum(['community', 'enterprise']),
  default_threshold: z.number(),
  fields: z.array(z.object({ name: z.string(), required: z.boolean() })),
  params: z.record(z.string(), z.unknown()).describe('JSON Schema 2020-12 of `params`'),
})
export type ScorerInfo = z.infer<typeof ScorerInfo>

export const scorers = {
  runScorer: endpoint('POST /v1/scorers', {
    plan: 'open',
    roles: ['ingest', 'approver', 'read'],
    scope: 'scorers',
    summary: 'Score up to 1,000 results with one scorer',
    text: 'Scores up to 1,000 results with one scorer. A result that cannot be scored has `score: null` and its error, and never counts as 0. The statistics are over the scored results.',
    problems: ['scorer_not_found', 'invalid_params'],
    body: ScorersRequest,
    ok: ScorersAnswer,
    maxBodyBytes: 8 * 1024 * 1024,
    maxSeconds: 150,
  }),
  listScorers: endpoint('GET /v1/scorers', {
    plan: 'open',
    roles: ['ingest', 'read', 'approver'],
    scope: 'scorers',
    summary: 'List the scorers of this installation',
    text: 'Lists the scorers of this installation with their parameters as JSON Schema.',
    query: z.strictObject(Paging),
    ok: page(ScorerInfo),
  }),
}
