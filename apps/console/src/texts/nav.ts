export const nav = {
  live: 'Live',
  approvals: 'Approvals',
  policies: 'Policies',
  ledger: 'Ledger',
  agents: 'Agents',
  mcpTools: 'MCP tools',
  spend: 'Spend',
  reports: 'Reports',
  playground: 'Playground',
  settings: 'Settings',
} as const
