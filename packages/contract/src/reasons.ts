import { z } from 'zod'
import { REASONS } from './reason-facts.ts'

export * from './reason-facts.ts'

export const Reason = z
  .enum(Object.keys(REASONS) as (keyof typeof REASONS)[])
  .meta({ id: 'Reason' })
export type Reason = z.infer<typeof Reason>
