/** An agent that ends at a given place: `node crashing-agent.ts <agent> <place> <file of payments>`. */
import { appendFileSync } from 'node:fs'
import { createClient, createGate } from '@remit/sdk'

const { REMIT_URL = '', REMIT_KEY = '' } = process.env
const [agentId = '', place = '', file = ''] = process.argv.slice(2)
const end = () => process.kill(process.pid, 'SIGKILL')

const gate = createGate({
  client: createClient({ baseUrl: REMIT_URL, key: REMIT_KEY }),
  agentId,
  runId: 'run',
  map: { pay: { amount: '/usd' } },
})
const call = { tool: 'pay', input: { usd: 5 }, callId: 'call-1' }
if (place === 'before the run') {
  const { kind } = await gate.check(call)
  if (kind === 'allow') end()
}
const done = await gate.run(call, () => {
  appendFileSync(file, 'paid\n')
  if (place === 'before the settlement') end()
})
console.log(done.kind === 'ran' ? 'ran' : 'reason' in done ? done.reason : done.kind)
