import { authorize } from '@remit/contract'
import { implement } from '@remit/core'
import type { Deps, Route } from '@remit/core'

export const authorizeRoutes = ({ decider }: Deps): Route[] =>
  implement(authorize, {
    authorize: ({ body }, caller, request) => decider.authorize(caller, body, request),
  })
