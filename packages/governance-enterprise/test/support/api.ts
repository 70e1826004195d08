import { createApi as createAny } from '@remit/core/testing'
import type { Api, TestRemitOptions } from '@remit/core/testing'
import governance from '../../src/index.ts'

export { answerOf, apiOf, refusalOf } from '@remit/core/testing'
export type { Api, CallOptions, Ok } from '@remit/core/testing'

/** Remit with the governance module, and an organization to call it for. */
export const createApi = (options: TestRemitOptions = {}): Promise<Api> =>
  createAny({ modules: [governance], ...options })
