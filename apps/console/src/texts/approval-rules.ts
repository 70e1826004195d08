export const approvalRules = {
  edit: (id: string) => `Approval rule ${id}`,
  id: 'Id',
  idHint: 'Chosen by you, such as large-refunds. It cannot be changed.',
  asks: 'asks',
  descriptionHint: 'Approvers read it beside each request.',
  users: 'Approvers by name',
  roles: 'Approvers by role',
  approversHint:
    'One per line: e-mail addresses of people, and roles. Both empty: everyone with the role approver or admin.',
  numbers: {
    required_approvals: 'Approvals needed',
    required_rejections: 'Rejections needed',
    request_ttl_seconds: 'Wait for votes (seconds)',
    approval_ttl_seconds: 'Approval lasts (seconds)',
    rejection_cooldown_seconds: 'Rejection lasts (seconds)',
  },
  preventSelf: 'The requester cannot decide',
  reasonRequired: 'Votes need a reason',
  bindAll: 'An approval counts for exactly the whole request',
  bindHint: 'Otherwise only for the named members of its context.',
  bound: 'Bound members of the context',
  boundHint: 'One per line, such as amount_usd. Others may differ.',
  readOnly: 'Your role can read approval rules, not change them.',
  deleteTitle: 'Delete this approval rule',
  deleteText: 'The rule asks for nothing from now on. Its open requests remain.',
  exceptNote:
    'A draft: the condition no longer asks for such requests. Check it, and save it to put it in force.',
} as const
