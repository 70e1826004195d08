import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { inFullRun, programEnv, sampled } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const isRun = inFullRun('running the examples') && hasModules()

const run = promisify(execFile)
const folder = resolve(import.meta.dirname, '..')

describe.skipIf(!isRun)('the example', () => {
  let server: RemitServer
  beforeAll(async () => {
    server = await startRemit()
    await server.client.setSpendLimit({ params: { id: 'payer' }, body: { daily_usd: 1000 } })
  })
  afterAll(() => server.stop())

  it.each(sampled(['vercel-ai', 'openai-agents', 'langchain', 'mastra', 'openai-loop'], 2, 1))(
    '%s pays what is allowed, and nothing else',
    async (name) => {
      const env = programEnv({ REMIT_URL: server.url, REMIT_KEY: server.org.key })
      const agent = ['--conditions=@remit/source', `${name}/agent.ts`]
      const start = async (amount: string) =>
        (await run('node', [...agent, amount], { cwd: folder, env })).stdout

      expect(await start('40')).toContain('Paid 40 USD')
      const denied = await start('4000')
      expect(denied).not.toContain('Paid')
      expect(denied).toContain('Not executed: denied by Remit (spend_limit_daily)')
    },
  )
})
