import type { PureScorer } from '../scorer.ts'
import {
  bleu,
  chrf,
  rouge1,
  rouge2,
  rougeL,
  tokenF1,
  levenshtein,
  jaroWinkler,
  embeddingSimilarity,
} from './similarity.ts'
import {
  cost,
  latency,
  containsAll,
  containsAny,
  contains,
  exactMatch,
  regexMatch,
  lengthRange,
} from './matches.ts'
import { citationCheck, piiLeak, promptLeak, refusal } from './safety.ts'
import { jsonDiff, jsonSchema, jsonValid } from './json.ts'
import { listContains, numericDiff } from './values.ts'
import { toolCallF1, toolCallMatch, trajectoryMatch } from './trajectories.ts'

/** The open scorers. Modules add more. */
export const builtInScorers: readonly PureScorer[] = [
  bleu,
  chrf,
  citationCheck,
  contains,
  containsAll,
  containsAny,
  cost,
  embeddingSimilarity,
  exactMatch,
  jaroWinkler,
  jsonDiff,
  jsonSchema,
  jsonValid,
  latency,
  lengthRange,
  levenshtein,
  listContains,
  numericDiff,
  piiLeak,
  promptLeak,
  refusal,
  regexMatch,
  rouge1,
  rouge2,
  rougeL,
  tokenF1,
  toolCallF1,
  toolCallMatch,
  trajectoryMatch,
]
