/**
 * An agent that pays one invoice, and asks Remit first. Plain `fetch`, no SDK.
 *
 *   REMIT_URL=http://localhost:8080 REMIT_KEY=rmc_… node examples/payment-agent/agent.ts 4711 2400
 */
const { REMIT, REMIT_URL = REMIT ?? 'http://localhost:8080', REMIT_KEY = '' } = process.env
const [invoice = '4711', amount = '2400'] = process.argv.slice(2)

interface Decision {
  readonly decision: 'allow' | 'deny' | 'needs_approval'
  readonly reason: string
  readonly message: string
  readonly decision_id: string
  readonly approval?: { readonly id: string }
}

const request = {
  agent_id: 'invoice-bot',
  action: 'payments.transfer',
  resource: `invoice:${invoice}`,
  context: { amount_usd: Number(amount) },
}

let decision = await authorize()
if (decision.decision === 'needs_approval' && decision.approval) {
  console.log(`Waiting for approval ${decision.approval.id}: ${decision.message}`)
  await approvalOf(decision.approval.id)
  // An approval allows nothing by itself: the identical request is checked and recorded once more.
  decision = await authorize()
}
if (decision.decision === 'allow') {
  const cost = pay()
  await settle(decision.decision_id, cost)
  console.log(`Paid invoice ${invoice}: ${cost} USD (${decision.reason})`)
} else {
  console.log(`Not paid: ${decision.reason}. ${decision.message}`)
  process.exitCode = 1
}

/** Only a 200 with `decision: "allow"` is an allow: every other status throws, and nothing is paid. */
function authorize(): Promise<Decision> {
  return call('POST', '/v1/authorize', request)
}

/** Resolves when the approval is no longer pending. Each request waits up to 55 seconds. */
async function approvalOf(id: string): Promise<void> {
  let status = 'pending'
  while (status === 'pending') {
    ;({ status } = await call<{ status: string }>('GET', `/v1/approvals/${id}?wait=55`))
  }
}

/** Replaces the amount on hold by the actual cost. */
function settle(decision_id: string, cost_usd: number): Promise<unknown> {
  return call('POST', '/v1/ledger', { action: 'payments.transferred', decision_id, cost_usd })
}

/** The consequential action. A real agent calls its bank here. */
function pay(): number {
  return request.context.amount_usd
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(new URL(path, REMIT_URL), {
    method,
    headers: { authorization: `Bearer ${REMIT_KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}
