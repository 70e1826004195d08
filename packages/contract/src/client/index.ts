/** The typed client alone: without zod, for every runtime that has `fetch`. */
export { createClient, fetchOf, keyOf, withOptions } from './client.ts'
export { RemitError } from './error.ts'
export type { TransportCode } from './error.ts'
export type { ServerEvent } from './client.ts'
export { canRetry, delayAfter } from './request.ts'
export { pause, withTimeLimit } from './request.ts'
export type {
  PlainResponse,
  Client,
  ClientOptions,
  WholeBody,
  WholeClient,
  WithResponse,
} from './types.ts'
