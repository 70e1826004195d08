import { createGate } from '@remit/sdk'
import type { Gate, SelfTestReport } from '@remit/sdk'
import * as claudeAgent from '@remit/sdk/claude-agent'
import * as langchain from '@remit/sdk/langchain'
import * as mastra from '@remit/sdk/mastra'
import * as openai from '@remit/sdk/openai'
import * as openaiAgents from '@remit/sdk/openai-agents'
import * as vercel from '@remit/sdk/vercel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const ADAPTERS: readonly [string, { selfTest: (gate: Gate) => Promise<SelfTestReport> }][] = [
  ['Vercel AI SDK', vercel],
  ['OpenAI Agents', openaiAgents],
  ['LangChain', langchain],
  ['Mastra', mastra],
  ['plain OpenAI loops', openai],
  ['Claude Agent SDK', claudeAgent],
]

describe.skipIf(!hasModules())('a deny blocks in the loop of', () => {
  let server: RemitServer
  beforeAll(async () => {
    server = await startRemit()
  })
  afterAll(() => server.stop())

  it.each(ADAPTERS)('%s, in all five cases', async (_, { selfTest }) => {
    const gate = createGate({ client: server.client, agentId: 'host' })

    const { enforced, results } = await selfTest(gate)

    expect(results.filter(({ passed }) => !passed)).toEqual([])
    expect(enforced).toBe(true)
  })
})
