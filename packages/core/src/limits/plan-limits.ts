import type { OrganizationLimits, Plan } from '@remit/contract'

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
