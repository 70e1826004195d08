import { z } from 'zod'
import { sequenceDistance } from '../measure/edit-distance.ts'
import { longestCommon } from '../measure/longest-common.ts'
import { Numbering } from '../measure/numbering.ts'
import { Unscorable, defineScorer } from '../scorer.ts'
import type { FieldName, ScoreOutcome } from '../scorer.ts'

const Mode = z.enum(['strict', 'in_order', 'unordered', 'superset', 'subset', 'lcs', 'edit'])
type Mode = z.output<typeof Mode>

const MAX_STEPS = 10_000

/** Agreement of the steps with the expected steps. */
export const trajectoryMatch = defineScorer({
  name: 'trajectory_match',
  version: '1',
  description:
    'trajectory relates to expected_trajectory as the mode says; lcs and edit are graded',
  edition: 'community',
  defaultThreshold: 1,
  params: z.strictObject({
    mode: Mode.default('strict').describe(
      'in_order: the expected steps in their order, others between them; lcs: longest common sequence / expected; edit: 1 - edit distance / longer length',
    ),
  }),
  fields: { trajectory: 'required', expected_trajectory: 'required' },
  inlineLength: 8_192,
  score: (result, { mode }) => {
    const numbering = new Numbering()
    const expected = stepsOf('expected_trajectory', result.expected_trajectory, numbering)
    if (expected.includes(NO_STEP))
      throw new Unscorable(
        'invalid_expected',
        'expected_trajectory holds a step without a name',
        'expected_trajectory',
      )
    const actual = stepsOf('trajectory', result.trajectory, numbering)
    return judge(mode, actual, expected, numbering.size)
  },
})

function judge(mode: Mode, actual: Int32Array, expected: Int32Array, names: number): ScoreOutcome {
  if (mode === 'lcs' || mode === 'edit') {
    const score = graded(mode, actual, expected, names)
    return {
      score,
      reason: mode === 'lcs' ? 'share of steps in order' : 'similarity',
      graded: true,
    }
  }
  const fits = {
    strict: () =>
      actual.length === expected.length && common(actual, expected, names) === actual.length,
    in_order: () => common(actual, expected, names) === expected.length,
    unordered: () => holdsAll(actual, expected) && holdsAll(expected, actual),
    superset: () => holdsAll(actual, expected),
    subset: () => holdsAll(expected, actual),
  }[mode]()
  return {
    score: fits ? 1 : 0,
    reason: `the steps ${fits ? 'fit' : 'do not fit'} the expected ones (${mode})`,
  }
}

function graded(
  mode: 'lcs' | 'edit',
  actual: Int32Array,
  expected: Int32Array,
  names: number,
): number {
  const longer = Math.max(actual.length, expected.length)
  if (longer === 0) return 1
  if (mode === 'edit') return 1 - sequenceDistance(expected, actual) / longer
  return expected.length === 0 ? 0 : common(actual, expected, names) / expected.length
}

// Steps without a name match no expected step, as those all have one.
const NO_STEP = -1

const common = (actual: Int32Array, expected: Int32Array, names: number): number =>
  longestCommon(
    expected,
    actual.map((step) => (step === NO_STEP ? names : step)),
    names + 1,
  )

function holdsAll(wider: Int32Array, narrower: Int32Array): boolean {
  const left = new Map<number, number>()
  for (const step of wider) left.set(step, (left.get(step) ?? 0) + 1)
  for (const step of narrower) {
    const count = left.get(step) ?? 0
    if (count === 0) return false
    left.set(step, count - 1)
  }
  return true
}

function stepsOf(
  field: FieldName,
  given: readonly unknown[] | null | undefined,
  numbering: Numbering,
): Int32Array {
  const steps = given ?? []
  if (steps.length > MAX_STEPS)
    throw new Unscorable('limit_exceeded', `${field} holds more than ${MAX_STEPS} steps`, field)
  return Int32Array.from(steps, (step) => {
    const name: unknown =
      typeof step === 'object' && step !== null ? (step as { name?: unknown }).name : step
    return typeof name === 'string' ? numbering.of(name) : NO_STEP
  })
}
