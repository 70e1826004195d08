/**
 * A LangChain agent that pays, with the framework's fake model in the place of a real one.
 *
 *   REMIT_URL=http://localhost:8080 REMIT_KEY=rmk_… node --conditions=@remit/source examples/langchain/agent.ts 40
 */
import { createClient, createGate } from '@remit/sdk/node'
import { remitMiddleware } from '@remit/sdk/langchain'
import { createAgent, FakeToolCallingModel, tool } from 'langchain'
import { z } from 'zod'

const { REMIT_URL = 'http://localhost:8080', REMIT_KEY = '' } = process.env
const [amount = '40'] = process.argv.slice(2)

const client = createClient({ baseUrl: REMIT_URL, key: REMIT_KEY })
const map = { transfer: { action: 'payments.transfer', amount: '/amount_usd' } }
const gate = createGate({ client, agentId: 'payer', map })

const transfer = tool(({ amount_usd }: { amount_usd: number }) => `Paid ${amount_usd} USD`, {
  name: 'transfer',
  description: 'Transfers an amount in USD',
  schema: z.object({ amount_usd: z.number() }),
})

const call = { name: 'transfer', args: { amount_usd: Number(amount) }, id: 'call-1' }
const agent = createAgent({
  model: new FakeToolCallingModel({ toolCalls: [[call], []] }),
  tools: [transfer],
  middleware: [remitMiddleware(gate)],
})
const { messages } = await agent.invoke({
  messages: [{ role: 'user', content: `Pay ${amount} USD.` }],
})
console.log(JSON.stringify(messages.map(({ content }) => content)))
