import { Decision, Plan, reasonFacts, Replaced } from '@remit/contract'
import type { Match } from '@remit/contract'
import { DecisionMeter } from '../computing/computing.ts'
import { recordedResource } from './decide.ts'
import type { Ask, Reading } from './stage.ts'

/** A decision, read back from its entry. */
export interface RecordedDecision {
  /** The request to the stages, without its caller. */
  readonly ask: Ask
  readonly decision: Decision
  /** May be one of a newer version. */
  readonly reason: string
  readonly matched: readonly Match[]
}

const DECISIONS: ReadonlySet<unknown> = new Set(Decision.options)
const PLANS: ReadonlySet<unknown> = new Set(Plan.options)

type Json = Readonly<Record<string, unknown>>

/**
 * Parses the payload of an `authorization.decided` entry, as `Decider` wrote it, to decide the same
 * request again. `now` is the time of the entry in milliseconds. Returns null for any other text.
 */
export function recordedDecision(
  orgId: string,
  now: number,
  payload: string,
): RecordedDecision | null {
  const entry = objectOf(payload)
  const data = entry?.['data']
  if (!entry || !isObject(data)) return null
  const { agent_id, action, resource, decision, reason } = entry
  const { context, matched, plan, decision_id: decisionId, readings, replaced, subject } = data
  if (typeof agent_id !== 'string' || typeof action !== 'string' || !isText(resource)) return null
  if (!DECISIONS.has(decision) || typeof reason !== 'string' || !PLANS.has(plan)) return null
  // No server wrote a denial for a reason to allow.
  if ((reasonFacts(reason)?.decision ?? decision) !== decision) return null
  if (!isObject(context) || !Array.isArray(matched) || !matched.every(isMatch)) return null
  if (typeof decisionId !== 'string') return null
  if (!Replaced.optional().safeParse(replaced).success) return null
  const { resource_type: type, resource_properties: properties, action_properties } = data
  const target = recordedResource(
    resource,
    typeof type === 'string' ? type : undefined,
    isObject(properties) ? properties : undefined,
  )
  return {
    ask: {
      orgId,
      plan: plan as Plan,
      decisionId,
      caller: null,
      request: {
        agent_id,
        action,
        context,
        ...(replaced !== undefined && { replaced: replaced as string[] }),
        ...(target !== undefined && { resource: target }),
      },
      claims: {
        ...(isObject(subject) && { subject }),
        ...(isObject(action_properties) && { actionProperties: action_properties }),
        ...(Array.isArray(readings) && { readings: readings.filter(isReading) }),
      },
      resource,
      now,
      meter: new DecisionMeter(),
    },
    decision: decision as Decision,
    reason,
    matched,
  }
}

function objectOf(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string | null =>
  value === null || typeof value === 'string'

const isReading = (value: unknown): value is Reading =>
  isObject(value) && typeof value['resource'] === 'string' && isObject(value['context'])

const isMatch = (value: unknown): value is Match =>
  isObject(value) && typeof value['kind'] === 'string' && typeof value['id'] === 'string'
