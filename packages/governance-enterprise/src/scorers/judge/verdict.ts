import { parseStrictJson, StrictJsonError } from '@remit/contract/json'
import { z } from 'zod'
import type { Judge } from './judges.ts'
import type { JudgeTask } from './params.ts'
import type { AnswerOrder } from './providers.ts'

/** The answer of a judge: one label for each criterion of `JudgeTask.names`, or one for the whole. */
export type JudgeVerdict = readonly Pick[]

interface Pick {
  readonly choice: string
  readonly reasoning?: string
}

const MAX_REASONING = 4_000

/**
 * The shape of a judge's answer. One definition for requests and validation: providers and their
 * libraries accept other labels.
 */
export function verdictShape({ names, choices, reasoning, judge }: JudgeTask) {
  const choice = z.enum([...choices.keys()])
  // Reasoning after the choice would only justify it.
  const reasoned = { reasoning: z.string().transform((text) => cleaned(text, judge)), choice }
  const pick: z.ZodType<Pick> = reasoning ? z.strictObject(reasoned) : z.strictObject({ choice })
  const named = z.strictObject(Object.fromEntries(names.map((name) => [name, pick])))
  const shape: z.ZodType<JudgeVerdict> =
    names.length === 0
      ? pick.transform((one) => [one])
      : named.transform((picks) => names.flatMap((name) => picks[name] ?? []))
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { reused: 'inline', io: 'input' })
  const cached = z.array(pick).length(names.length || 1)
  return {
    /** JSON Schema; every name is required, and no other is allowed. */
    schema,
    /** The verdict, or a clause that describes the fault of an answer. */
    read(answer: unknown): JudgeVerdict | string {
      const value = typeof answer === 'string' ? parsed(answer) : answer
      const { data, error } = shape.safeParse(value)
      return data ?? faultOf(error)
    },
    /** A stored verdict; undefined if there is none, or if it does not fit. */
    readCached: (text = 'null'): JudgeVerdict | undefined =>
      cached.safeParse(JSON.parse(text)).data,
  }
}

export type VerdictShape = ReturnType<typeof verdictShape>

/** Strict: with duplicate names, a model may mean one and a reader see the other. */
function parsed(text: string): unknown {
  try {
    return parseStrictJson(Buffer.from(text))
  } catch (error) {
    if (error instanceof StrictJsonError) return undefined
    throw error
  }
}

/** The position of the fault without the value, which may be an attack. */
function faultOf(error: z.ZodError | undefined): string {
  const [issue] = error?.issues ?? []
  const path = issue?.path.join('.') ?? ''
  if (issue?.code === 'unrecognized_keys') return 'it has names that were not asked for'
  if (path === '') return 'it is not one JSON object'
  return path.endsWith('choice') ? `${path} is not one of the labels` : `${path} is not a text`
}

/** A broken or curious server may quote its key; requesters must not see it. */
const cleaned = (reasoning: string, { key }: Judge): string =>
  (key === null ? reasoning : reasoning.replaceAll(key, '[key]'))
    .slice(0, MAX_REASONING)
    .toWellFormed()

/** The answer of one sample to one question. */
export interface SampleVote {
  readonly label: string
  readonly score: number
}

/** More than half of the samples must have answered. */
export const isQuorum = (valid: number, samples: number): boolean => valid * 2 > samples

/** Combines at least one vote. With `majority`, tied labels share their scores. */
export function combine(votes: readonly SampleVote[], aggregation: 'majority' | 'mean' | 'median') {
  const groups = [...Map.groupBy(votes, ({ label }) => label)]
  const most = Math.max(...groups.map(([, { length }]) => length))
  const leading = groups.filter(([, { length }]) => length === most)
  const counted = {
    majority: leading.flatMap(([, [one]]) => one ?? []),
    mean: votes,
    median: middleOf(votes),
  }
  const isTie = leading.length > 1
  return {
    score: weightedMean(counted[aggregation]),
    /** The label with the most votes; null for a tie. */
    choice: isTie ? null : (leading[0]?.[0] ?? null),
    votes: Object.fromEntries(groups.map(([label, { length }]) => [label, length])),
    /** The share of the votes for the leading label. */
    agreement: most / votes.length,
    ...(isTie && { tie: true }),
  }
}

/** The middle one or two votes, whose mean is the median. */
function middleOf(votes: readonly SampleVote[]): readonly SampleVote[] {
  const sorted = votes.toSorted((a, b) => a.score - b.score)
  return sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1)
}

export type VoteResult = Omit<ReturnType<typeof combine>, 'score'>

/** The mean of criteria or votes; each weighs 1 by default. */
export function weightedMean(
  parts: readonly { readonly score: number; readonly weight?: number }[],
): number {
  const total = parts.reduce((sum, { weight = 1 }) => sum + weight, 0)
  return parts.reduce((sum, { score, weight = 1 }) => sum + score * weight, 0) / total
}

const TIE: SampleVote = { label: 'tie', score: 0.5 }
export const INCONSISTENT: SampleVote = { label: 'inconsistent', score: TIE.score }

/** The meaning of a label for the output, which was first or second. */
export function standing(choice: string, order: AnswerOrder): SampleVote {
  if (choice === 'tie') return TIE
  const isWin = (choice === 'A') === (order === 'output_first')
  return isWin ? { label: 'win', score: 1 } : { label: 'loss', score: 0 }
}

/** Combines both orders: a winner that depends on the order is inconsistent. */
export const bothOrders = (first: SampleVote, second: SampleVote): SampleVote =>
  first.label === second.label ? first : INCONSISTENT
