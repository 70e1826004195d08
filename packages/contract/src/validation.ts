import { z } from 'zod'
import { component } from './primitives.ts'

/** The query of an endpoint that can validate its body without storing it. */
export const Validating = z.strictObject({
  validate: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: validate the body only; nothing is stored and no entry is written'),
})

/** The answer to `?validate=true`. */
export const Validation = component('Validation', {
  valid: z.boolean().describe('True if the body has no fault'),
  errors: z
    .array(
      z.object({
        path: z.string(),
        message: z.string(),
        position: z
          .object({
            line: z.int().describe('Line of the text'),
            column: z.int().describe('Column of the line'),
          })
          .optional()
          .describe('Of an error in a condition, from 1'),
      }),
    )
    .describe('The faults of the body'),
  warnings: z.array(z.string()),
})
export type Validation = z.infer<typeof Validation>
