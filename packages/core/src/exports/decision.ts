export { agentFacts } from '../authorize/agent-facts.ts'
export type { Preview } from '../authorize/preview.ts'
export {
  decide,
  judge,
  readingsOf,
  RESERVED_ACTIONS,
  RESERVED_AGENT,
  resourceText,
} from '../authorize/decide.ts'
export type { Slots, SlotState } from '../authorize/decide.ts'
export { memoOf, SLOTS } from '../authorize/stage.ts'
export type {
  Slot,
  Ask,
  ClaimedFacts,
  Counter,
  CounterNeed,
  Counters,
  DecisionScope,
  Move,
  Overlay,
  Pass,
  Reading,
  Effect,
  Observer,
  Stage,
  StageVerdict,
} from '../authorize/stage.ts'
export type { HostCall, HostDecision, ToolDecisions } from '../authorize/tool-decisions.ts'
export { DECISION_MS, DecisionMeter } from '../computing/computing.ts'
export type { Meter } from '../computing/computing.ts'
