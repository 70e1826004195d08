/** The SDK for programs that run in Node: with its client, and the requests beneath it. */
export * from '../index.ts'
export { createClient } from './client.ts'
export { bodyOf, BodyTooLong, send } from './http.ts'
export type { Sent } from './http.ts'
