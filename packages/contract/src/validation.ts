import { z } from 'zod'

/** The query of an endpoint that can validate its body without storing it. */
export const Validating = z.strictObject({
  validate: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: validate the body only; nothing is stored and no entry is written'),
})

/** The answer to `?validate=true`. */
export const Validation = z
  .object({
    valid: z.boolean(),
    errors: z.array(
      z.object({
        path: z.string(),
        message: z.string(),
        position: z
          .object({ line: z.int(), column: z.int() })
          .optional()
          .describe('Of an error in a condition, from 1'),
      }),
    ),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'Validation' })
export type Validation = z.infer<typeof Validation>

/** The description of that answer in the OpenAPI document. */
export const VALIDATION_TEXT =
  'With `validate=true`: `{valid, errors: [{path, message, position?: {line, column}}], warnings}`'
