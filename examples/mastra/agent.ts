/**
 * A Mastra agent that pays, with the framework's mock model in the place of a real one.
 *
 *   REMIT_URL=http://localhost:8080 REMIT_KEY=rmk_… node --conditions=@remit/source examples/mastra/agent.ts 40
 */
import { Agent } from '@mastra/core/agent'
import type { AgentConfig } from '@mastra/core/agent'
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock'
import { createTool } from '@mastra/core/tools'
import { createClient, createGate } from '@remit/sdk/node'
import { governed } from '@remit/sdk/mastra'
import { z } from 'zod'

const { REMIT_URL = 'http://localhost:8080', REMIT_KEY = '' } = process.env
const [amount = '40'] = process.argv.slice(2)

const client = createClient({ baseUrl: REMIT_URL, key: REMIT_KEY })
const map = { transfer: { action: 'payments.transfer', amount: '/amount_usd' } }
const gate = createGate({ client, agentId: 'payer', map })

const transfer = createTool({
  id: 'transfer',
  description: 'Transfers an amount in USD',
  inputSchema: z.object({ amount_usd: z.number() }),
  execute: ({ amount_usd }) => Promise.resolve(`Paid ${amount_usd} USD`),
})

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
const call = { toolCallId: 'call-1', toolName: 'transfer', input: `{"amount_usd":${amount}}` }
let turn = 0
const model = new MastraLanguageModelV2Mock({
  doGenerate: () =>
    Promise.resolve(
      turn++ === 0
        ? {
            content: [{ type: 'tool-call', ...call }],
            finishReason: 'tool-calls',
            usage,
            warnings: [],
          }
        : { content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage, warnings: [] },
    ),
})

const agent = new Agent({
  id: 'payer',
  name: 'payer',
  instructions: 'Pay what you are asked to pay.',
  model: model as unknown as AgentConfig['model'],
  tools: governed(gate, { transfer }),
})
const { toolResults } = await agent.generate(`Pay ${amount} USD.`, { maxSteps: 2 })
console.log(JSON.stringify(toolResults))
