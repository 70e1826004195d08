export const search = {
  title: 'Search',
  label: 'Agent, rule, decision, entry, resource or page',
  hint: (n: number) =>
    `Texts of decisions are searched in the newest ${n}; ids and numbers of entries in all.`,
  hits: 'Results',
  approval: 'Approval',
  groups: {
    direct: 'Open',
    agents: 'Agents',
    policies: 'Policies',
    rules: 'Approval rules',
    decisions: 'Decisions',
    pages: 'Pages',
    ledger: 'Ledger',
  },
  entriesOf: {
    action: (text: string) => `Entries with the action ${text}`,
    agent_id: (text: string) => `Entries of the agent ${text}`,
    trace_id: (text: string) => `Entries of the trace ${text}`,
  },
} as const
