export { answerOf, apiOf, refusalOf } from '@remit/testing'
export type { Api, CallOptions, Ok } from '@remit/testing'
import { createApi as createAny } from '@remit/testing'
import type { Api, TestRemitOptions } from '@remit/testing'
import governance from '../../src/index.ts'

/** Remit with the governance module, and an organization to call it for. */
export const createApi = (options: TestRemitOptions = {}): Promise<Api> =>
  createAny({ modules: [governance], ...options })
