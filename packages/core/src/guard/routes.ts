import { evaluation } from '@remit/contract'
import { implement } from '../module/implement.ts'
import type { Route } from '../module/implement.ts'
import { checkContent } from './guard.ts'

/** The guard's one route. */
export const guardRoutes = (): Route[] =>
  implement(
    { checkContent: evaluation.checkContent },
    { checkContent: async ({ body }) => checkContent(body) },
  )
