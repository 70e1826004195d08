import { LIMITS, OrganizationLimits } from '@remit/contract'
import type { Plan } from '@remit/contract'
import { fail, invalid } from '../base/errors.ts'
import { fieldErrors, FOR_FIELD_ERRORS } from '../base/fields.ts'
import type { OrganizationRow } from '../db/schema.ts'
import type { OrganizationAtVersion } from './at-version.ts'

type LimitName = keyof OrganizationLimits

/** Names of all limits, for messages and documents. */
export const LIMIT_NAMES = Object.keys(LIMITS) as readonly LimitName[]

/** Returns the limits of an organization; one without a value does not exist. */
export const limitsOf = ({ limits }: Pick<OrganizationRow, 'limits'>): OrganizationLimits =>
  OrganizationLimits.parse(JSON.parse(limits))

/** Returns the stored text after a change; null removes a limit. Throws `invalid_request`. */
export function changeLimits(stored: string, change: Readonly<Record<string, unknown>>): string {
  const limits = JSON.parse(stored) as Record<string, unknown>
  for (const [name, value] of Object.entries(change)) {
    if (!Object.hasOwn(LIMITS, name))
      throw invalid(name, `is not a limit; the limits are ${LIMIT_NAMES.join(', ')}`)
    if (value === null) {
      delete limits[name]
      continue
    }
    const { error, data } = LIMITS[name as LimitName].safeParse(value, FOR_FIELD_ERRORS)
    if (error) throw invalid(name, fieldErrors(error.issues)[0]?.message ?? 'is not valid')
    limits[name] = data
  }
  return JSON.stringify(limits)
}

/** Throws `code` if an organization has as many objects as the operator allows. */
export async function checkCount(
  { limits }: Pick<OrganizationAtVersion, 'limits'>,
  name: 'agents' | 'policies' | 'budgets' | 'webhooks',
  count: () => Promise<number>,
): Promise<void> {
  const limit = limits[name]
  if (limit === undefined || (await count()) < limit) return
  throw fail(`too_many_${name}`, `The organization can have at most ${limit} ${name}`)
}

/**
 * The limits of a new organization of a hosted server, by plan. They are stored with the organization,
 * so that a later change of this table changes no organization, and are the operator's to change.
 */
export const PLAN_LIMITS: Readonly<Record<Plan, OrganizationLimits>> = {
  free: {
    decisions_per_second: 10,
    decisions_per_month: 10_000,
    agents: 10,
    policies: 50,
    webhooks: 2,
    judge_usd_per_day: 0,
    retention_days: 400,
  },
  team: {
    decisions_per_second: 100,
    decisions_per_month: 1_000_000,
    agents: 500,
    policies: 2_000,
    budgets: 200,
    webhooks: 10,
    judge_usd_per_day: 0,
    retention_days: 1_100,
  },
  enterprise: {
    decisions_per_second: 1_000,
    judge_usd_per_day: 100,
  },
}

/** Returns the limits after a change of the plan: values that the operator chose stay. */
export function limitsOnPlan(stored: OrganizationLimits, from: Plan, to: Plan): OrganizationLimits {
  const [before, after] = [PLAN_LIMITS[from], PLAN_LIMITS[to]]
  const chosen = Object.entries(stored).filter(
    ([name, value]) => before[name as keyof OrganizationLimits] !== value,
  )
  return { ...after, ...Object.fromEntries(chosen) }
}
