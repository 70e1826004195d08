/** The fixed positions of the decision path, in order of evaluation. */
export const SLOTS = ['agent_deny', 'spend_limit', 'policy', 'approval_rule'] as const
export type Slot = (typeof SLOTS)[number]

/** Slots that the team plan includes; the rest require enterprise. */
export const TEAM_SLOTS: ReadonlySet<Slot> = new Set(['agent_deny', 'spend_limit'])
