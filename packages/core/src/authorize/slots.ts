/** The fixed places of the decision path, in the order in which they answer. */
export const SLOTS = ['agent_deny', 'spend_limit', 'policy', 'approval_rule'] as const
export type Slot = (typeof SLOTS)[number]

/** Slots that an organization on the team plan passes through; the rest need enterprise. */
export const TEAM_SLOTS: ReadonlySet<Slot> = new Set(['agent_deny', 'spend_limit'])
