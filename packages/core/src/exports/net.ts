export {
  AnswerTooLarge,
  boundedText,
  createOutbound,
  hostOf,
  isLoopbackHost,
} from '../net/outbound.ts'
export type { OutboundResponse } from '../net/exchange.ts'
export { OutboundError } from '../net/exchange.ts'
export type { Outbound } from '../net/outbound.ts'
export { putObject, getObject, listObjects } from '../net/s3.ts'
export type { Bucket } from '../net/s3.ts'
