import { z } from 'zod'
import {
  Action,
  AgentId,
  FreeForm,
  integer,
  Resource,
  strictComponent,
  Timestamp,
} from './primitives.ts'
import { ConditionText, Patterns } from './rules.ts'

/** The requests that a property is about. */
const Scope = z.strictObject({
  agents: Patterns,
  actions: Patterns,
  resources: Patterns.describe('patterns of resources; only `*` matches a request without one'),
  when: ConditionText.optional().describe('a condition that the requests fulfil'),
})

/**
 * A statement about all decisions, which is searched for a counterexample: `never: "allow"` means that
 * nothing of `for` is allowed without an approval.
 */
export const PropertySpec = strictComponent('PropertySpec', {
  for: Scope.prefault({}).describe('the requests that the property is about'),
  never: z
    .enum(['allow', 'deny'], 'must be allow or deny')
    .describe('the decision that none of them gets; needs_approval is neither'),
  require: z
    .enum(['searched', 'proved'], 'must be searched or proved')
    .default('searched')
    .describe('`proved`: a search that is not complete is a failure'),
  max_cases: integer(1, 1_000_000)
    .default(200_000)
    .describe('requests to decide; more of them take longer'),
})
export type PropertySpec = z.infer<typeof PropertySpec>

/** The result of the search for a counterexample of one property. */
export const PropertyResult = z
  .object({
    name: z.string(),
    result: z
      .enum(['violated', 'proved', 'searched'])
      .describe(
        '`violated`: `counterexample` gets the decision. `proved`: no request does. `searched`: none was found, and `because` says why there may be one',
      ),
    require: z.enum(['searched', 'proved']).describe('what the property requires'),
    cases: z.int().min(0).describe('requests that were decided'),
    of: z.int().min(0).describe('requests that differ for the rules'),
    because: z.array(z.string()).describe('what the search leaves open, or leaves out'),
    counterexample: z
      .object({
        agent_id: AgentId,
        action: Action,
        resource: Resource.nullable(),
        context: FreeForm,
        at: Timestamp,
      })
      .nullable()
      .describe('a request for a dry-run; null unless violated'),
  })
  .meta({ id: 'PropertyResult' })
export type PropertyResult = z.infer<typeof PropertyResult>
