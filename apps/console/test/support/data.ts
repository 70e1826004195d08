import type { Client } from '@remit/contract'

/** A name of an agent or action that would run as HTML. */
export const MARKUP = '<img src=x onerror=window.harmed=1>'
/** A free text that would also hide and reorder letters. */
export const HOSTILE = `${MARKUP} safe\u202Eevil\u200B`

/** Records that give each page something to show; their texts are attacks on the reader. */
export async function fillOrganization(api: Client): Promise<void> {
  await api.registerAgent({
    body: {
      agent_id: 'support-bot',
      owners: [{ type: 'user', id: MARKUP }],
      labels: { team: MARKUP },
    },
  })
  await api.setSpendLimit({ params: { id: 'support-bot' }, body: { daily_usd: 5000 } })
  await api.createPolicy({
    body: { effect: 'deny', actions: ['db.drop*'], description: HOSTILE },
  })
  await api.setApprovalRule({
    params: { id: 'large-refunds' },
    body: {
      description: HOSTILE,
      actions: ['payments.refund'],
      condition: 'amount_usd > 500.0',
    },
  })
  await api.createKey({ body: { role: 'read', name: MARKUP } })
  await api.createWebhook({
    body: { url: 'https://example.com/hook', description: HOSTILE, enabled: false },
  })
  await api.reportMcpTools({
    body: { upstream: 'files', tools: [{ name: MARKUP, description: HOSTILE }] },
  })
  await api.invitePerson({ body: { email: 'ada@example.org', name: MARKUP, role: 'read' } })
  await decide(api)
  await api.createReport({ body: { framework: 'soc2', ...lastMinute() } })
}

async function decide(api: Client): Promise<void> {
  const note = HOSTILE
  const asked = [
    { agent_id: 'support-bot', action: 'payments.refund', context: { amount_usd: 20 } },
    { agent_id: 'support-bot', action: 'db.drop_table' },
    { agent_id: MARKUP, action: MARKUP, resource: MARKUP, context: { note } },
    { agent_id: 'support-bot', action: 'payments.refund', context: { amount_usd: 700, note } },
    { agent_id: MARKUP, action: 'payments.refund', context: { amount_usd: 900, note } },
    { agent_id: MARKUP, action: 'payments.refund', context: { amount_usd: 950, note } },
  ]
  const ids: (string | undefined)[] = []
  for (const body of asked) ids.push((await api.authorize({ body })).request_id)
  // The last one is in the history, with a comment.
  const requestID = ids.at(-1) ?? ''
  await api.decideApproval({
    params: { requestID },
    body: { decision: 'reject', comment: HOSTILE, approver: `bob ${MARKUP}` },
  })
}

/** A period that a young ledger has. */
function lastMinute(): { from: string; to: string } {
  const now = Date.now()
  return { from: new Date(now - 60_000).toISOString(), to: new Date(now).toISOString() }
}
