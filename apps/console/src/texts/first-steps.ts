export const firstSteps = {
  title: (done: number, all: number) => `First steps: ${done} of ${all} done`,
  hide: 'Hide',
  done: 'done',
  open: 'to do',
  names: {
    agent: 'Register an agent',
    decision: 'Ask for the first decision',
    limit: 'Limit what an agent spends',
    rule: 'Write a policy',
    approver: 'Let people approve',
    deny: 'Deny what no rule allows',
  },
  texts: {
    agent: 'Registration gives an agent owners, credentials of its own and a switch to stop it.',
    decision: 'As an agent does before it acts. Each decision is recorded in the ledger.',
    limit: 'A cap per day or month. Requests beyond it are denied.',
    rule: 'Policies allow or deny actions. A replay shows what a draft would have changed.',
    approver: 'An approval rule asks people before an agent acts, such as for large amounts.',
    deny: 'Until then, agents may do everything that no rule denies.',
  },
  take: {
    agent: 'Register',
    decision: 'Ask',
    limit: 'Set a limit',
    rule: 'New policy',
    approver: 'New approval rule',
    deny: 'Deny by default',
  },
  askText: 'The server decides and records this request. Nothing is executed.',
  denyText:
    'From now on, a request is denied unless a policy or permission allows it. Agents that act today without such a rule are stopped: look at the most denied actions on this page, and replay a policy before you save it.',
} as const
