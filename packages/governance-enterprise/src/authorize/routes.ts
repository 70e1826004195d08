import { authorize } from '@remit/contract'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'

export const authorizeRoutes = ({ decider }: Deps): Route[] =>
  implement(authorize, {
    authorize: ({ body }, caller, request) => decider.authorize(caller, body, request),
  })
