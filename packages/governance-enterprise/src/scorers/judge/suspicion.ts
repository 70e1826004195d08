import { canonicalJson, checkContent } from '@remit/core'
import type { JudgedFields } from './fields.ts'

/** Returns whether the guard finds instructions or hidden text in a judged field. A hint only. */
export const isInjectionSuspected = (fields: JudgedFields): boolean =>
  fields.some(
    ([name, value]) =>
      checkContent({
        content: typeof value === 'string' ? value : canonicalJson(value),
        // Answers and documents have no reason to contain instructions; user input may.
        source: name === 'input' ? 'user' : 'document',
        direction: 'input',
        sensitivity: 'balanced',
        checks: ['injection', 'invisible'],
        explain: false,
      }).flagged,
  )
