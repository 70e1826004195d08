import type {
  AuthorizeAnswer,
  Decision,
  Match,
  ObservedRule,
  Reason,
  Resource,
} from '@remit/contract'
import { DecisionMeter } from '../computing/computing.ts'
import { memoOf, SLOTS, TEAM_SLOTS } from './stage.ts'
import type {
  Ask,
  DecisionData,
  Effect,
  Observer,
  Slot,
  Stage,
  StageNotes,
  StageVerdict,
} from './stage.ts'

/** The agent and the beginning of the actions for which only the server requests decisions. */
export const RESERVED_AGENT = 'remit.rules'
export const RESERVED_ACTIONS = 'remit.rules.'

const NONE: readonly Ask[] = []

/**
 * The other readings of a request, as requests of their own; most have none. The same ones each time,
 * since stages add facts to a request.
 */
export function readingsOf(ask: Ask): readonly Ask[] {
  const { readings } = ask.claims
  if (readings === undefined || ask.reading !== undefined) return NONE
  return (memoOf(ask).readings ??= readings.map(({ resource, context }, reading) => ({
    ...ask,
    reading,
    request: { ...ask.request, resource, context: { ...ask.request.context, ...context } },
    resource: resourceText(resource),
  })))
}

/** A stage in its slot, for one batch. */
export interface SlotState {
  readonly stage: Stage
  /** False for a stage that failed: it denies. */
  readonly available: boolean
  readonly rules: unknown
  /** The state that the stage prepared for the batch; its rules if it prepares none. */
  state: unknown
  /** Warning for a stage that the plan of the caller does not include. */
  leftOut: string | null
  /** The effects of the decisions so far. */
  readonly effects: Effect[]
}

/** The stages of a batch by their slots. */
export type Slots = ReadonlyMap<Slot, SlotState>

/** One request with the verdicts of its rules, before anything is read for it. */
export interface RuleVerdicts {
  readonly ask: Ask
  readonly verdicts: ReadonlyMap<Slot, StageVerdict>
  /** Null if no stage found a match. */
  readonly matched: ReadonlyMap<Slot, unknown> | null
  /** The results of observed rules; absent without such rules. */
  readonly observations?: Observations
}

/** Members of the entry and of a dry-run. */
export type Observations = Pick<DecisionData, 'observed' | 'observed_incomplete'>

const MAX_OBSERVED = 20

/** Milliseconds that the conditions of observed rules may compute for one request. */
const OBSERVE_MS = 2

/** Evaluates the observed rules for one request, whatever it is decided. Their failure changes nothing. */
export function observe(
  ask: Ask,
  observers: ReadonlyMap<Slot, Observer>,
  onError: (slot: Slot, error: unknown) => void,
): Observations {
  if (deniedAtOnce(ask)) return {}
  const meter = new DecisionMeter(OBSERVE_MS)
  meter.start()
  const observed: ObservedRule[] = []
  let isComplete = true
  for (const [slot, observer] of observers) {
    if (!isInPlan(ask, slot)) continue
    try {
      const found = observer(ask, meter)
      // A condition that was aborted looks like one that fails.
      if (meter.wasOver) isComplete = false
      else observed.push(...found)
    } catch (error) {
      onError(slot, error)
      isComplete = false
    }
  }
  return {
    ...(observed.length > 0 && { observed: observed.slice(0, MAX_OBSERVED) }),
    ...((!isComplete || observed.length > MAX_OBSERVED) && { observed_incomplete: true }),
  }
}

/** Returns true if the plan of the caller includes the stage of a slot. */
const isInPlan = (ask: Ask, slot: Slot): boolean =>
  ask.plan === 'enterprise' || TEAM_SLOTS.has(slot)

/** The denial of a stage that cannot decide, with its error unless it was unavailable before. */
const denialOf = ({ unavailable }: Stage, error?: unknown): StageVerdict => ({
  verdict: 'deny',
  ...unavailable,
  ...(error !== undefined && { failed: error }),
})

/**
 * Returns the verdict of a stage by its state or its rules. A stage that is unavailable or throws denies.
 * A stage that decides by its rules alone must pass each reading of the request.
 */
function verdictOf(ask: Ask, { stage, available }: SlotState, state: unknown): StageVerdict {
  if (!available) return denialOf(stage)
  try {
    const verdict = stage.decide(ask, state)
    if (stage.prepare || verdict.verdict !== 'pass') return verdict
    for (const reading of readingsOf(ask)) {
      const other = stage.decide(reading, state)
      if (other.verdict !== 'pass') return other
    }
    return verdict
  } catch (error) {
    return denialOf(stage, error ?? new Error('the stage threw no value'))
  }
}

/**
 * Evaluates all conditions for one request, in the order of the slots, up to the first stage that does
 * not pass. Pure.
 */
export function judge(ask: Ask, slots: Slots): RuleVerdicts {
  const verdicts = new Map<Slot, StageVerdict>()
  let matched: Map<Slot, unknown> | null = null
  if (deniedAtOnce(ask)) return { ask, verdicts, matched }
  for (const slot of SLOTS) {
    const filled = slots.get(slot)
    if (!filled || !isInPlan(ask, slot)) continue
    const { stage, rules, available } = filled
    if (!stage.prepare || !available) {
      const verdict = verdictOf(ask, filled, rules)
      verdicts.set(slot, verdict)
      if (verdict.verdict !== 'pass') break
    } else if (stage.match) {
      try {
        const found = stage.match(ask, rules)
        if (found !== undefined) (matched ??= new Map()).set(slot, found)
      } catch (error) {
        verdicts.set(slot, denialOf(stage, error ?? new Error('the stage threw no value')))
        break
      }
    }
  }
  return { ask, verdicts, matched }
}

/** One decision with everything that its response and its entry contain. */
export interface DecisionResult {
  readonly ask: Ask
  readonly decision: Decision
  readonly reason: Reason
  readonly message: string
  readonly matched: readonly Match[]
  readonly answer: Partial<AuthorizeAnswer>
  readonly data: Partial<DecisionData>
  readonly warnings: readonly string[]
  /** Effects of stages that apply to the decision. */
  readonly effects: readonly Effect[]
  /** The verdict of each stage, in order: the trace of a dry-run. */
  readonly trace: readonly { readonly slot: Slot; readonly verdict: StageVerdict }[]
  /** The error of the stage that failed and therefore denied. */
  readonly broken: { readonly slot: Slot; readonly error: unknown } | null
}

/** The denial of a request that no rule was written for: it cannot be told, or all of its context was replaced. */
function deniedAtOnce({ claims, request }: Ask): StageVerdict | null {
  if (claims.unmappable !== undefined)
    return { verdict: 'deny', reason: 'unmappable', message: claims.unmappable }
  if (!request.replaced?.includes('')) return null
  const message = 'The context is too large for a request, and no rule can see it.'
  return { verdict: 'deny', reason: 'context_unseen', message }
}

/** Warnings that name the places which rules could not see. */
export const unseenPlaces = ({ replaced = [] }: Ask['request']): string[] =>
  replaced.map((place) => `context_replaced: ${place}`)

/**
 * Runs one request through the stages. The first stage that does not pass decides. Pure: real
 * decisions and dry-runs use the same function. A stage that throws denies, like an unavailable
 * one. `judged` has the verdicts of the rules alone; a stage without one there is evaluated here.
 */
export function decide(ask: Ask, slots: Slots, judged?: RuleVerdicts): DecisionResult {
  const trace: { slot: Slot; verdict: StageVerdict }[] = []
  const notes: CollectedNotes = { matched: [], answer: {}, data: {}, warnings: [] }
  let last: StageVerdict = deniedAtOnce(ask) ?? { verdict: 'pass' }
  let reason: Reason = 'default_allow'
  let broken: DecisionResult['broken'] = null
  for (const slot of last.verdict === 'pass' ? SLOTS : []) {
    const filled = slots.get(slot)
    if (!filled) continue
    if (!isInPlan(ask, slot)) {
      if (filled.leftOut) notes.warnings.push(filled.leftOut)
      continue
    }
    last = judged?.verdicts.get(slot) ?? verdictOf(ask, filled, filled.state)
    if (last.failed !== undefined) broken = { slot, error: last.failed }
    trace.push({ slot, verdict: last })
    if (last.notes) collect(last.notes, notes)
    if (last.verdict !== 'pass') break
    reason = last.reason ?? reason
  }
  if (judged?.observations) Object.assign(notes.data, judged.observations)
  const decision: Decision = last.verdict === 'pass' ? 'allow' : last.verdict
  if (decision === 'allow')
    for (const { verdict } of trace)
      if (verdict.verdict === 'pass') Object.assign(notes.data, verdict.allowed)
  return {
    ask,
    decision,
    reason: last.verdict === 'pass' ? reason : last.reason,
    message: last.verdict === 'pass' ? messageOf(reason, notes.answer) : last.message,
    matched: notes.matched,
    answer: notes.answer,
    data: notes.data,
    warnings: notes.warnings,
    effects: effectsOf(ask, decision, trace),
    trace,
    broken,
  }
}

/** A default allow says whether anybody vouches for the agent. */
const messageOf = (reason: Reason, { agent }: DecisionResult['answer']): string =>
  reason === 'default_allow' && agent?.registered === false
    ? 'No rule denies this action. The agent is not registered.'
    : 'No rule denies this action.'

/** The parts that stages add to the response and the entry, in their order. */
interface CollectedNotes {
  readonly matched: Match[]
  readonly answer: Partial<AuthorizeAnswer>
  readonly data: Partial<DecisionData>
  readonly warnings: string[]
}

function collect({ matched, answer, data, warnings }: StageNotes, notes: CollectedNotes): void {
  if (matched) notes.matched.push(...matched)
  if (answer) Object.assign(notes.answer, answer)
  if (data) Object.assign(notes.data, data)
  if (warnings) notes.warnings.push(...warnings)
}

/**
 * The effect of a pass applies if all stages pass; the effect of a needs_approval applies by
 * itself.
 */
function effectsOf(ask: Ask, decision: Decision, trace: DecisionResult['trace']): Effect[] {
  const effects: Effect[] = []
  for (const { slot, verdict } of trace) {
    if (verdict.verdict === 'deny' || verdict.effect === undefined) continue
    const meant = verdict.verdict === 'pass' ? 'allow' : 'needs_approval'
    const { effect, moves } = verdict
    if (meant === decision) effects.push({ slot, ask, decision, effect, moves })
  }
  return effects
}

/** Returns the resource as rules match it and entries store it: `type:id`, or null for none. */
export function resourceText(resource: Resource | undefined): string | null {
  if (resource === undefined || resource === '') return null
  return typeof resource === 'string' ? resource : `${resource.type}:${resource.id}`
}

/** Returns the type of a resource whose text is ambiguous because the type contains a colon. */
export const unclearType = (resource: Resource | undefined): string | undefined =>
  typeof resource === 'object' && resource.type.includes(':') ? resource.type : undefined

/**
 * Rebuilds the resource of an entry from its text and the additional members (`unclearType`,
 * properties), as conditions read it. Undefined for none.
 */
export function recordedResource(
  text: string | null,
  type?: string,
  properties?: Record<string, unknown>,
): Resource | undefined {
  if (text === null) return undefined
  if (type === undefined && properties === undefined) return text
  const end = type === undefined ? Math.max(0, text.indexOf(':')) : type.length
  return {
    type: text.slice(0, end),
    id: text.slice(end + 1),
    ...(properties && { properties }),
  }
}
