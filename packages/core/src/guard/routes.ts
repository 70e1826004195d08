import { evaluation } from '@remit/contract'
import { actAs } from '../http/own-agent.ts'
import { implement } from '../module/implement.ts'
import type { Route } from '../module/implement.ts'
import { checkContent } from './guard.ts'

/** The guard's one route. */
export const guardRoutes = (): Route[] =>
  implement(
    { checkContent: evaluation.checkContent },
    {
      checkContent: async ({ body }, caller) => {
        actAs(caller, body.agent_id)
        return checkContent(body)
      },
    },
  )
