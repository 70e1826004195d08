import { authorize } from '@remit/contract'
import { defineModule } from '../../src/module/module.ts'
import { implement } from '../../src/http/endpoint.ts'

/** Mounts POST /v1/authorize over the core's decision path, without any stage: everything is allowed. */
export const authorizeModule = defineModule({
  name: 'test_authorize',
  setup: ({ decider }) => ({
    routes: implement(authorize, {
      authorize: ({ body }, _, request) => decider.authorize(body, request),
    }),
  }),
})
