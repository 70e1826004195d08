import { startRemit } from '../../support/server.ts'
import type { RemitServer } from '../../support/server.ts'

/** Remit with the rules of these tests, and what a person does there. */
export interface Ruled extends RemitServer {
  readonly pending: () => Promise<{ readonly id: string }[]>
  /** A person votes for the request that waits. */
  readonly approve: () => Promise<string>
  readonly reject: () => Promise<string>
  /** Nothing waits any more. */
  readonly rejectAll: () => Promise<void>
  /** Newest first. */
  readonly decisions: (limit?: number) => Promise<Entry[]>
  readonly outcomes: () => Promise<Entry[]>
}

type Entry = Awaited<ReturnType<RemitServer['client']['listEntries']>>['data'][number]

/** Refunds are denied, and a payment above 100 USD needs a person. */
export async function startRuled(): Promise<Ruled> {
  const remit = await startRemit()
  const { client } = remit
  await client.createPolicy({
    body: { effect: 'deny', actions: ['tools/call'], resources: ['tool:refund'] },
  })
  await client.setApprovalRule({
    params: { id: 'large' },
    body: { actions: ['tools/call'], condition: 'has(context.args.usd) && context.args.usd > 100' },
  })
  const pending = async () => (await client.listApprovals({ query: { status: 'pending' } })).data
  const vote = async (decision: 'approve' | 'reject') => {
    const [first] = await pending()
    if (!first) throw new Error('No approval waits.')
    const params = { requestID: first.id }
    await client.decideApproval({ params, body: { decision, approver: 'carol' } })
    return first.id
  }
  const entries = async (kind: string, limit = 100) =>
    (await client.listEntries({ query: { kind, limit } })).data
  return {
    ...remit,
    pending,
    approve: () => vote('approve'),
    reject: () => vote('reject'),
    async rejectAll() {
      for (const { id } of await pending())
        await client.decideApproval({
          params: { requestID: id },
          body: { decision: 'reject', approver: 'carol' },
        })
    },
    decisions: (limit) => entries('authorization.decided', limit),
    outcomes: () => entries('entry.appended'),
  }
}
