import type { PureScorer } from '../scorer.ts'
import { bleu } from './bleu.ts'
import { cost, latency } from './bounds.ts'
import { chrf } from './chrf.ts'
import { citationCheck } from './citation-check.ts'
import { containsAll, containsAny } from './contains-lists.ts'
import { contains } from './contains.ts'
import { embeddingSimilarity } from './embedding-similarity.ts'
import { exactMatch } from './exact-match.ts'
import { jaroWinkler } from './jaro-winkler.ts'
import { jsonDiff } from './json-diff.ts'
import { jsonSchema } from './json-schema.ts'
import { jsonValid } from './json-valid.ts'
import { lengthRange } from './length-range.ts'
import { levenshtein } from './levenshtein.ts'
import { listContains } from './list-contains.ts'
import { numericDiff } from './numeric-diff.ts'
import { piiLeak } from './pii-leak.ts'
import { promptLeak } from './prompt-leak.ts'
import { refusal } from './refusal.ts'
import { regexMatch } from './regex-match.ts'
import { rouge1, rouge2, rougeL } from './rouge.ts'
import { tokenF1 } from './token-f1.ts'
import { toolCallF1, toolCallMatch } from './tool-calls.ts'
import { trajectoryMatch } from './trajectory-match.ts'

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
