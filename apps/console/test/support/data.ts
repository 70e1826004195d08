import type { Client } from '@remit/contract'

/** Records that give each page something to show. */
export async function fillOrganization(api: Client): Promise<void> {
  await api.registerAgent({
    body: { agent_id: 'support-bot', owners: [{ type: 'user', id: 'ada' }] },
  })
  await api.setSpendLimit({ params: { id: 'support-bot' }, body: { daily_usd: 5000 } })
  await api.createPolicy({
    body: { effect: 'deny', actions: ['db.drop*'], description: 'No destructive actions' },
  })
  await api.setApprovalRule({
    params: { id: 'large-refunds' },
    body: { actions: ['payments.refund'], condition: 'context.amount_usd > 500.0' },
  })
  const asked = [
    { agent_id: 'support-bot', action: 'payments.refund', context: { amount_usd: 20 } },
    { agent_id: 'support-bot', action: 'db.drop_table' },
    { agent_id: 'support-bot', action: 'payments.refund', context: { amount_usd: 700 } },
    { agent_id: 'support-bot', action: 'payments.refund', context: { amount_usd: 900 } },
  ]
  for (const body of asked) await api.authorize({ body })
  await api.createReport({ body: { framework: 'soc2', ...lastMinute() } })
}

/** A period that a young ledger has. */
function lastMinute(): { from: string; to: string } {
  const now = Date.now()
  return { from: new Date(now - 60_000).toISOString(), to: new Date(now).toISOString() }
}
