import type { Client } from '@remit/contract/client'

/** The rules that the tests in sdks/python/tests expect. */
export async function createPythonRules(client: Client): Promise<void> {
  for (const actions of [['denied.*'], ['denied_pay']])
    await client.createPolicy({ body: { effect: 'deny', actions } })
  await client.setApprovalRule({
    params: { id: 'held' },
    body: { actions: ['held.*', 'held_pay'] },
  })
  for (const condition of [
    'has(context.args.usd) && context.args.usd > 1000.0',
    'has(context.args.to) && context.args.to == "mallory"',
    'has(context.args.force) && context.args.force == true',
  ])
    await client.createPolicy({ body: { effect: 'deny', actions: ['order'], condition } })
}
