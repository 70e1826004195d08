export { recordedDecision } from '../authorize/recorded.ts'
export type { RecordedDecision } from '../authorize/recorded.ts'
