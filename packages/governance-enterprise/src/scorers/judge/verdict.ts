import { parseStrictJson, StrictJsonError } from '@remit/core'
import { z } from 'zod'
import type { Judge } from './judges.ts'
import type { JudgeTask } from './params.ts'

/** The answer of a judge: one choice per question, in order. */
export type JudgeVerdict = readonly Pick[]

export interface Pick {
  readonly choice: string
  readonly reasoning?: string
}

/** The shape of a judge's answer, for the prompt and for validation. */
export interface VerdictShape {
  /** JSON Schema; every name is required, and no other is allowed. */
  readonly schema: Readonly<Record<string, unknown>>
  /** The verdict, or a clause that describes the fault of an answer. */
  read(answer: string | Readonly<Record<string, unknown>>): JudgeVerdict | string
  /** A stored verdict; null if it does not fit. */
  readKept(text: string): JudgeVerdict | null
}

const MAX_REASONING = 4_000

/** One definition for requests and validation: providers and their libraries accept other labels. */
export function verdictShape({ questions, choices, reasoning, judge }: JudgeTask): VerdictShape {
  const pick = z.strictObject({
    // Reasoning after the choice would only justify it.
    ...(reasoning && { reasoning: z.string() }),
    choice: z.enum([...choices.keys()]),
  })
  const names = questions.flatMap(({ name }) => name ?? [])
  const shape =
    names.length === 0 ? pick : z.strictObject(Object.fromEntries(names.map((n) => [n, pick])))
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { reused: 'inline' })
  const kept = z.array(pick).length(questions.length)
  return {
    schema,
    read(answer) {
      const value = typeof answer === 'string' ? parsed(answer) : answer
      if (value === undefined) return 'it is not one JSON object'
      const { data, error } = shape.safeParse(value)
      if (error) return faultOf(error)
      const picks = names.length === 0 ? [data] : names.map((name) => (data as Picks)[name])
      return (picks as Pick[]).map((one) => cleaned(one, judge))
    },
    readKept(text) {
      const verdict = kept.safeParse(JSON.parse(text)).data as JudgeVerdict | undefined
      return verdict?.map((one) => cleaned(one, judge)) ?? null
    },
  }
}

type Picks = Readonly<Record<string, unknown>>

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
function faultOf({ issues }: z.core.$ZodError): string {
  const [issue] = issues
  const path = issue?.path.join('.') ?? ''
  if (issue?.code === 'unrecognized_keys') return 'it has names that were not asked for'
  if (path === '') return 'it is not one JSON object'
  return path.endsWith('choice') ? `${path} is not one of the labels` : `${path} is not a text`
}

/** A broken or curious server may quote its key; requesters must not see it. */
const cleaned = ({ choice, reasoning }: Pick, { key }: Judge): Pick => {
  if (reasoning === undefined) return { choice }
  const text = key === null ? reasoning : reasoning.replaceAll(key, '[key]')
  return { choice, reasoning: text.slice(0, MAX_REASONING).toWellFormed() }
}
