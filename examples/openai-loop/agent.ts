/**
 * A loop over chat completions that pays, with a scripted answer in the place of a model's.
 *
 *   REMIT_URL=http://localhost:8080 REMIT_KEY=rmk_… node --conditions=@remit/source examples/openai-loop/agent.ts 40
 */
import { createClient, createGate } from '@remit/sdk/node'
import { runToolCalls } from '@remit/sdk/openai'
import type { ChatCompletionMessage, ChatCompletionMessageParam } from 'openai/resources'

const { REMIT_URL = 'http://localhost:8080', REMIT_KEY = '' } = process.env
const [amount = '40'] = process.argv.slice(2)

const client = createClient({ baseUrl: REMIT_URL, key: REMIT_KEY })
const map = { transfer: { action: 'payments.transfer', amount: '/amount_usd' } }
const gate = createGate({ client, agentId: 'payer', map })

const transfer = ({ amount_usd }: { amount_usd: number }) => `Paid ${amount_usd} USD`

// The response of `openai.chat.completions.create(…)`.
const message: ChatCompletionMessage = {
  role: 'assistant',
  content: null,
  refusal: null,
  tool_calls: [
    {
      id: 'call-1',
      type: 'function',
      function: { name: 'transfer', arguments: `{"amount_usd":${amount}}` },
    },
  ],
}
const messages: ChatCompletionMessageParam[] = [
  { role: 'user', content: `Pay ${amount} USD.` },
  message,
  ...(await runToolCalls(gate, message.tool_calls, { transfer })),
]
console.log(JSON.stringify(messages))
