/**
 * An agent of the OpenAI Agents SDK that pays, with a scripted model in the place of a real one.
 *
 *   REMIT_URL=http://localhost:8080 REMIT_KEY=rmk_… node --conditions=@remit/source examples/openai-agents/agent.ts 40
 */
import { Agent, Runner, tool, Usage } from '@openai/agents'
import type { Model } from '@openai/agents'
import { createClient, createGate } from '@remit/sdk/node'
import { governed } from '@remit/sdk/openai-agents'
import { z } from 'zod'

const { REMIT_URL = 'http://localhost:8080', REMIT_KEY = '' } = process.env
const [amount = '40'] = process.argv.slice(2)

const client = createClient({ baseUrl: REMIT_URL, key: REMIT_KEY })
const map = { transfer: { action: 'payments.transfer', amount: '/amount_usd' } }
const gate = createGate({ client, agentId: 'payer', map })

const transfer = tool(
  governed(gate, {
    name: 'transfer',
    description: 'Transfers an amount in USD',
    parameters: z.object({ amount_usd: z.number() }),
    execute: ({ amount_usd }: { amount_usd: number }) => `Paid ${amount_usd} USD`,
  }),
)

let turn = 0
const model: Model = {
  getResponse: () =>
    Promise.resolve({
      usage: new Usage(),
      output: [
        turn++ === 0
          ? {
              type: 'function_call',
              callId: 'call-1',
              name: 'transfer',
              status: 'completed',
              arguments: `{"amount_usd":${amount}}`,
            }
          : {
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: 'done' }],
            },
      ],
    }),
  getStreamedResponse: () => {
    throw new Error('not used')
  },
}

const agent = new Agent({ name: 'payer', model, tools: [transfer] })
const { history } = await new Runner({ tracingDisabled: true }).run(agent, `Pay ${amount} USD.`)
console.log(JSON.stringify(history))
