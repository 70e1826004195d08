import type { PolicyInput } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { validationQuery } from './queries.ts'
import type { Validation } from './queries.ts'

const DEBOUNCE_MS = 300

export interface ValidationState {
  readonly data: Validation | undefined
  /** The answer is not about the newest draft yet. */
  readonly isPending: boolean
}

/** Asks the server about a draft once nobody has typed for a moment: one evaluator, one truth. */
export function useValidation(input: PolicyInput, isOn: boolean): ValidationState {
  const text = JSON.stringify(input)
  const [asked, setAsked] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const query = useQuery(validationQuery(JSON.parse(asked) as PolicyInput, isOn))
  return { data: query.data, isPending: asked !== text || query.isFetching }
}
