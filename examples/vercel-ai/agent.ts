/**
 * An agent of the Vercel AI SDK that pays, with the SDK's mock model in the place of a real one.
 *
 *   REMIT_URL=http://localhost:8080 REMIT_KEY=rmk_… node --conditions=@remit/source examples/vercel-ai/agent.ts 40
 */
import { createClient, createGate } from '@remit/sdk/node'
import { governed, toolApproval } from '@remit/sdk/vercel'
import { generateText, jsonSchema, stepCountIs, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'

const { REMIT_URL = 'http://localhost:8080', REMIT_KEY = '' } = process.env
const [amount = '40'] = process.argv.slice(2)

const client = createClient({ baseUrl: REMIT_URL, key: REMIT_KEY })
const map = { transfer: { action: 'payments.transfer', amount: '/amount_usd' } }
const gate = createGate({ client, agentId: 'payer', map })

const transfer = tool({
  description: 'Transfers an amount in USD',
  inputSchema: jsonSchema<{ amount_usd: number }>({
    type: 'object',
    properties: { amount_usd: { type: 'number' } },
    required: ['amount_usd'],
  }),
  execute: ({ amount_usd }) => `Paid ${amount_usd} USD`,
})

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const call = { toolCallId: 'call-1', toolName: 'transfer', input: `{"amount_usd":${amount}}` }
const model = new MockLanguageModelV4({
  doGenerate: [
    {
      content: [{ type: 'tool-call', ...call }],
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage,
      warnings: [],
    },
    {
      content: [{ type: 'text', text: 'done' }],
      finishReason: { unified: 'stop', raw: undefined },
      usage,
      warnings: [],
    },
  ],
})

const { steps } = await generateText({
  model,
  tools: governed(gate, { transfer }),
  toolApproval: toolApproval(gate),
  prompt: `Pay ${amount} USD.`,
  stopWhen: stepCountIs(2),
})
console.log(JSON.stringify(steps.flatMap(({ content }) => content)))
