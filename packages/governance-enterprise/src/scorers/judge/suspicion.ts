import { canonicalJson, checkContent } from '@remit/core'
import type { JudgedFields } from './fields.ts'

/** Whether the guard finds that a judged field gives orders or hides text. A hint, not a verdict. */
export const isInjectionSuspected = (fields: JudgedFields): boolean =>
  fields.some(
    ([name, value]) =>
      checkContent({
        content: typeof value === 'string' ? value : canonicalJson(value),
        // Nobody has a reason to give orders in an answer or a document; a user may.
        source: name === 'input' ? 'user' : 'document',
        direction: 'input',
        sensitivity: 'balanced',
        checks: ['injection', 'invisible'],
        explain: false,
      }).flagged,
  )
