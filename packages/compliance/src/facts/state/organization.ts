import type { Plan } from '@remit/contract'
import { isRecord, recordIn, textIn, textsIn, timeIn } from '../recorded-json.ts'
import type { RecordedJson } from '../recorded-json.ts'
import type { Reducers } from './reducer.ts'

export interface OrganizationState {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  /** As recorded: settings at their default may be missing. */
  readonly settings: RecordedJson
  /** Milliseconds, and the entry that records it. */
  readonly createdAt: number
  readonly createdSeq: number
}

/** Action patterns that the organization considers consequential. */
export const consequentialActions = (organization: OrganizationState | null): string[] =>
  organization ? textsIn(organization.settings, 'consequential_actions') : []

/** Returns whether the default effect is `deny`. */
export const deniesByDefault = (organization: OrganizationState | null): boolean =>
  organization !== null && textIn(organization.settings, 'default_effect') === 'deny'

const PLANS: readonly string[] = ['free', 'team', 'enterprise'] satisfies Plan[]

const planIn = (object: RecordedJson): Plan => {
  const plan = textIn(object, 'plan') ?? ''
  return PLANS.includes(plan) ? (plan as Plan) : 'free'
}

export const organizationReducers: Reducers = {
  'ledger.heartbeat': (state) => {
    state.isBeating = true
  },
  'organization.created': (state, { seq, time, data }) => {
    const object = recordIn(data, 'organization')
    if (!object) return
    state.organization = {
      id: textIn(object, 'id') ?? '',
      name: textIn(object, 'name') ?? '',
      plan: planIn(object),
      settings: recordIn(object, 'settings') ?? {},
      createdAt: time,
      createdSeq: seq,
    }
  },
  'organization.updated': (state, { seq, time, data }) => {
    const object = recordIn(data, 'organization')
    if (!object) return
    const before = state.organization
    state.organization = {
      id: textIn(object, 'id') ?? before?.id ?? '',
      name: textIn(object, 'name') ?? before?.name ?? '',
      plan: planIn(object),
      settings: isRecord(object['settings']) ? object['settings'] : {},
      createdAt: before?.createdAt ?? timeIn(object, 'created_at') ?? time,
      createdSeq: before?.createdSeq ?? seq,
    }
  },
}
