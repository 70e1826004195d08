import type { Validation } from '@remit/contract'
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

/** The first error of a field or of one of its members. */
export const faultAt = (
  errors: readonly { readonly path: string; readonly message: string }[],
  path: string,
): string | undefined =>
  errors.find((error) => error.path === path || error.path.startsWith(`${path}.`))?.message

/** The properties of a form of a draft. */
export interface DraftFieldsProps<Draft> {
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
  readonly isReadOnly: boolean
  readonly validation: ValidationState
  readonly faults: readonly { path: string; message: string }[]
}

/** The functions that change a draft and find the fault of a field. */
export const fieldsOf = <Draft>({
  draft,
  onDraft,
  validation,
  faults,
}: DraftFieldsProps<Draft>) => ({
  set: (change: Partial<Draft>) => onDraft({ ...draft, ...change }),
  faultOf: (path: string) => faultAt(validation.data?.errors ?? faults, path),
})
