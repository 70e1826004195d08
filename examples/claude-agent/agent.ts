/**
 * An agent of the Claude Agent SDK whose tools ask Remit first. It starts Claude Code, which needs a key of
 * its own in ANTHROPIC_API_KEY; the tests of this repository check its types only.
 *
 *   REMIT_URL=http://localhost:8080 REMIT_KEY=rmk_… node --conditions=@remit/source examples/claude-agent/agent.ts 'List the files here'
 */
import { query } from '@anthropic-ai/claude-agent-sdk'
import { createClient, createGate } from '@remit/sdk/node'
import { claudeAgent } from '@remit/sdk/claude-agent'

const { REMIT_URL = 'http://localhost:8080', REMIT_KEY = '' } = process.env
const [prompt = 'List the files here.'] = process.argv.slice(2)

const client = createClient({ baseUrl: REMIT_URL, key: REMIT_KEY })
const gate = createGate({ client, agentId: 'coder' })
for await (const message of query({ prompt, options: claudeAgent(gate) }))
  if (message.type === 'result') console.log(message.subtype)
