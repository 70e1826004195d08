/** Parts of the API, in the order of the documentation. */
export const TAGS: Readonly<Record<string, string>> = {
  authorize: 'Decisions: may this agent do this?',
  authzen: 'The same decisions for clients of the AuthZEN Authorization API 1.0.',
  policies: 'Rules that allow or deny actions.',
  'spend-limits': 'Caps on the spend of agents.',
  delegation: 'Permissions of agents, which they may pass on in part.',
  'approval-rules': 'Rules that require a human decision.',
  approvals: 'Requests for a human decision.',
  ledger: 'The tamper-evident record and its proofs.',
  identity: 'Agents, their credentials, trust between them, and token exchange.',
  session: 'Sessions of the console.',
  organization: 'Settings of the organization.',
  keys: 'Ingest keys.',
  webhooks: 'Events sent to URLs of yours.',
  compliance: 'Reports, verification, dry-runs and replays.',
  scorers: 'Scores for results of evaluations.',
  guard: 'Checks of texts for attacks, secrets and personal data.',
}
