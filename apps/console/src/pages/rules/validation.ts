import type { RuleMode, Validation } from '@remit/contract'
import { RemitError } from '@remit/contract/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

const DEBOUNCE_MS = 300

export interface ValidationState {
  readonly data: Validation | undefined
  /** The answer is not about the newest draft yet. */
  readonly isPending: boolean
}

interface Question<T> {
  /** Tells the kinds of drafts apart. */
  readonly name: string
  /** Null: nothing to ask. */
  readonly input: T | null
  readonly ask: (input: T, signal: AbortSignal) => Promise<Validation>
}

/** Asks the server about a draft once nobody has typed for a moment: one evaluator, one truth. */
export function useValidation<T>({ name, input, ask }: Question<T>): ValidationState {
  const text = JSON.stringify(input)
  const [asked, setAsked] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const query = useQuery({
    queryKey: ['validation', name, asked],
    enabled: asked !== 'null',
    queryFn: ({ signal }) => ask(JSON.parse(asked) as T, signal),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })
  return { data: query.data, isPending: asked !== text || query.isFetching }
}

/** The errors of single fields in a refusal of the server. */
export const fieldErrorsOf = (error: unknown): readonly Validation['errors'][number][] =>
  error instanceof RemitError ? (error.problem?.errors ?? []) : []

/** The first error of a field or of one of its members, in a refusal of the server. */
export const faultAt = (error: unknown, path: string): string | undefined =>
  firstAt(fieldErrorsOf(error), path)

const firstAt = (
  errors: readonly Validation['errors'][number][],
  path: string,
): string | undefined =>
  errors.find((error) => error.path === path || error.path.startsWith(`${path}.`))?.message

/** The properties of a form of a draft. */
export interface DraftFieldsProps<Draft> {
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
  readonly isReadOnly?: boolean
  readonly validation?: ValidationState
  /** The refusal of the server. */
  readonly error?: unknown
}

/** The properties of the fields of a form, by member of its draft; `path` is the member of the body. */
export function fieldsOf<Draft>(props: DraftFieldsProps<Draft>) {
  const { draft, onDraft, isReadOnly = false, validation, error } = props
  const set = (change: Partial<Draft>) => onDraft({ ...draft, ...change })
  const faultOf = (path: string) => firstAt(validation?.data?.errors ?? fieldErrorsOf(error), path)
  const put = (name: keyof Draft) => (value: unknown) =>
    set({ [name]: value } as unknown as Partial<Draft>)
  type Name = keyof Draft & string
  return {
    set,
    faultOf,
    /** Of an `Input`, `TextArea` or `UtcInput`. */
    text: <N extends Name>(name: N, path: string = name) => ({
      readOnly: isReadOnly,
      value: draft[name],
      fault: faultOf(path),
      onValue: put(name),
    }),
    /** Of a `Select`. */
    choice: <N extends Name>(name: N, path: string = name) => ({
      disabled: isReadOnly,
      value: draft[name],
      fault: faultOf(path),
      onValue: put(name),
    }),
    /** Of a `Checkbox`. */
    check: <N extends Name>(name: N) => ({
      disabled: isReadOnly,
      isOn: draft[name],
      onToggle: put(name),
    }),
    /** Of a `StateField`. */
    state: {
      draft,
      isReadOnly,
      onState: (state: { readonly enabled: boolean; readonly mode: RuleMode }) =>
        set(state as unknown as Partial<Draft>),
    },
    /** Of a `ConditionField`. */
    condition: <N extends Name>(name: N) => ({
      value: draft[name],
      onValue: put(name),
      isReadOnly,
      validation,
    }),
    /** Of `PatternFields`. */
    patterns: {
      values: draft,
      isReadOnly,
      faultOf,
      onValue: (name: Name, text: string) => put(name)(text),
    },
  }
}

interface Conditioned {
  readonly condition?: string | null | undefined
}

/**
 * Adds the errors of the condition to those of the shape. The server compiles the condition of a valid body
 * only, so a second request leaves out the invalid members.
 */
export async function withCondition<T extends Conditioned>(
  input: T,
  ask: (input: T) => Promise<Validation>,
): Promise<Validation> {
  const first = await ask(input)
  const faulty = new Set(first.errors.map(({ path }) => path.split('.')[0]))
  if (first.valid || !input.condition || faulty.has('condition')) return first
  const rest = Object.entries(input).filter(([name]) => !faulty.has(name))
  const { errors } = await ask(Object.fromEntries(rest) as T)
  return {
    ...first,
    errors: [...first.errors, ...errors.filter(({ path }) => path === 'condition')],
  }
}
