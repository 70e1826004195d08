import type { ResultToScore } from '@remit/contract'
import { parseStrictJson } from '@remit/contract/json'
import { z } from 'zod'
import { jsonEqual } from '../json-equal.ts'
import { mostPairs } from '../measure/matching.ts'
import { Unscorable, defineScorer } from '../scorer.ts'
import type { FieldName, ScoreOutcome } from '../scorer.ts'
import { sequenceDistance, longestCommon } from '../measure/edit-distance.ts'
import { Numbering } from '../measure/numbers.ts'

const Arguments = z
  .enum(['exact', 'ignore', 'superset', 'subset'])
  .default('exact')
  .describe('Comparison of the arguments with the expected arguments')
type Arguments = z.output<typeof Arguments>

const MAX_CALLS = 1_000

/** A tool call for comparison; null arguments were no JSON that all readers read alike, and equal none. */
interface Call {
  readonly name: string
  readonly args: { readonly value: unknown } | null
}

interface Calls {
  readonly actual: readonly Call[]
  readonly expected: readonly Call[]
  readonly matches: (actual: number, expected: number) => boolean
}

export const toolCallMatch = defineScorer({
  name: 'tool_call_match',
  version: '2',
  description: 'tool_calls relate to expected_tool_calls as the mode says, by the best pairing',
  params: z.strictObject({
    mode: z
      .enum(['strict', 'unordered', 'superset', 'subset'])
      .default('strict')
      .describe('strict: the same calls in the same order; superset: at least the expected ones'),
    args: Arguments,
  }),
  fields: { tool_calls: 'required', expected_tool_calls: 'required' },
  inlineLength: 4_096,
  score: (result, { mode, args }) => {
    const calls = callsOf(result, args)
    const { length: actual } = calls.actual
    const { length: expected } = calls.expected
    const pairs = mode === 'strict' ? inOrder(calls) : pairsOf(calls)
    const wanted = {
      strict: pairs === actual && pairs === expected,
      unordered: pairs === actual && pairs === expected,
      superset: pairs === expected,
      subset: pairs === actual,
    }[mode]
    return {
      score: wanted ? 1 : 0,
      reason: `${pairs} of ${actual} calls match ${expected} expected calls (${mode})`,
      metadata: { matched: pairs, actual, expected },
    }
  },
})

export const toolCallF1 = defineScorer({
  name: 'tool_call_f1',
  version: '2',
  description: 'F1 of tool_calls against expected_tool_calls, each counted as often as it occurs',
  defaultThreshold: 0.5,
  params: z.strictObject({ args: Arguments }),
  fields: { tool_calls: 'required', expected_tool_calls: 'required' },
  inlineLength: 4_096,
  score: (result, { args }) => {
    const calls = callsOf(result, args)
    const { length: actual } = calls.actual
    const { length: expected } = calls.expected
    const matched = pairsOf(calls)
    const all = actual + expected
    return {
      score: all === 0 ? 1 : (2 * matched) / all,
      reason: 'F1 of tool calls',
      graded: true,
      metadata: { matched, actual, expected },
    }
  },
})

function inOrder({ actual, expected, matches }: Calls): number {
  let count = 0
  const shorter = Math.min(actual.length, expected.length)
  for (let at = 0; at < shorter; at++) if (matches(at, at)) count++
  return count
}

const pairsOf = ({ actual, expected, matches }: Calls): number =>
  mostPairs(actual.length, expected.length, matches)

function callsOf(result: ResultToScore, args: Arguments): Calls {
  const actual = listOf('tool_calls', result.tool_calls)
  const expected = listOf('expected_tool_calls', result.expected_tool_calls)
  const unread = expected.findIndex((call) => call.args === null)
  if (unread !== -1)
    throw new Unscorable(
      'invalid_expected',
      `expected_tool_calls[${unread}] has arguments that are not JSON`,
      'expected_tool_calls',
    )
  // The matching queries each pair more than once.
  const known = new Int8Array(actual.length * expected.length)
  const matches = (row: number, column: number) => {
    const at = row * expected.length + column
    if (known[at] === 0) known[at] = isSame(actual[row], expected[column], args) ? 1 : -1
    return known[at] === 1
  }
  return { actual, expected, matches }
}

function listOf(
  field: 'tool_calls' | 'expected_tool_calls',
  given: readonly unknown[] | null | undefined,
): Call[] {
  const list = given ?? []
  if (list.length > MAX_CALLS)
    throw new Unscorable('limit_exceeded', `${field} holds more than ${MAX_CALLS} calls`, field)
  return list.map((one, at) => {
    const call = callOf(one)
    if (call) return call
    throw new Unscorable(
      field === 'tool_calls' ? 'invalid_tool_calls' : 'invalid_expected',
      `${field}[${at}] must be a call {name, arguments} or {function: {name, arguments}}; ` +
        'args, input and parameters are taken for arguments, and only one of them',
      field,
    )
  })
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Names of the arguments: OpenAI, LangChain and Gemini, Anthropic, and others. */
const ARGUMENTS = ['arguments', 'args', 'input', 'parameters'] as const
/** Other members of calls without arguments. */
const BESIDES = new Set(['name', 'id', 'type', 'index', 'call_id', 'tool_call_id', 'status'])

/**
 * Parses `{name, arguments}`, with `args`, `input` or `parameters` in place of `arguments`, and the same
 * inside of `function`. Arguments may be JSON text. Null for any other shape: what cannot be read must not
 * pass as a call without arguments.
 */
function callOf(given: unknown): Call | null {
  if (!isObject(given)) return null
  const inner = given['function']
  const call = isObject(inner) ? inner : given
  const outer = isObject(inner) ? presentIn(given) : []
  const { name } = call
  const [own, ...more] = presentIn(call)
  if (typeof name !== 'string' || outer.length > 0 || more.length > 0) return null
  if (own !== undefined) return { name, args: argumentsOf(call[own]) }
  const isBare = Object.keys(call).every((member) => BESIDES.has(member) || isArguments(member))
  return isBare ? { name, args: { value: {} } } : null
}

const isArguments = (member: string): boolean => (ARGUMENTS as readonly string[]).includes(member)

/** The members that hold arguments. Serializers write null for those that a call has not. */
const presentIn = (call: Fields): (typeof ARGUMENTS)[number][] =>
  ARGUMENTS.filter((member) => call[member] !== undefined && call[member] !== null)

function argumentsOf(given: unknown): Call['args'] {
  if (typeof given !== 'string') return { value: given }
  if (given.trim() === '') return { value: {} }
  try {
    // In a list, because a text may be a single value.
    const [value, ...more] = parseStrictJson(Buffer.from(`[${given}]`)) as unknown[]
    return more.length === 0 ? { value } : null
  } catch {
    return null
  }
}

function isSame(actual: Call | undefined, expected: Call | undefined, mode: Arguments): boolean {
  if (!actual || !expected || actual.name !== expected.name) return false
  if (mode === 'ignore') return true
  if (!actual.args || !expected.args) return false
  const [own, wanted] = [actual.args.value, expected.args.value]
  if (mode === 'superset') return holdsAll(own, wanted)
  if (mode === 'subset') return holdsAll(wanted, own)
  return jsonEqual(own, wanted)
}

/** Returns true if one object has every member of the other, with an equal value. */
function holdsAll(wider: unknown, narrower: unknown): boolean {
  if (!isObject(wider) || !isObject(narrower)) return jsonEqual(wider, narrower)
  return Object.entries(narrower).every(
    ([name, value]) => Object.hasOwn(wider, name) && jsonEqual(wider[name], value),
  )
}

const Mode = z.enum(['strict', 'in_order', 'unordered', 'superset', 'subset', 'lcs', 'edit'])
type Mode = z.output<typeof Mode>

const MAX_STEPS = 10_000

export const trajectoryMatch = defineScorer({
  name: 'trajectory_match',
  description:
    'trajectory relates to expected_trajectory as the mode says; lcs and edit are graded',
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
    unordered: () => holdsAllIds(actual, expected) && holdsAllIds(expected, actual),
    superset: () => holdsAllIds(actual, expected),
    subset: () => holdsAllIds(expected, actual),
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

function holdsAllIds(wider: Int32Array, narrower: Int32Array): boolean {
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
