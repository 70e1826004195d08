import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { createTestRemit } from '@remit/core/testing'
import type { TestRemit } from '@remit/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../src/boot/listen.ts'
import type { Listener } from '../src/boot/listen.ts'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { readmeRequests } from './support/readme.ts'

const root = resolve(import.meta.dirname, '../../..')
const pages = readdirSync(resolve(root, 'docs')).filter((name) => name.endsWith('.md'))
const textOf = (page: string) => readFileSync(resolve(root, 'docs', page), 'utf8')

/** The shell blocks of a page. */
const blocksOf = (page: string): string[] =>
  [...textOf(page).matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block)

it.each(pages.filter((page) => blocksOf(page).some((block) => block.includes('curl '))))(
  '%s asks the server that `REMIT_URL` names, with a key from a variable',
  (page) => {
    for (const block of blocksOf(page)) {
      for (const [request] of block.matchAll(/^curl (?:[^\n]|\\\n)*/gm)) {
        expect(request).toMatch(/^curl (?:-\S+ (?:[A-Z]+ )?)*"?\$REMIT_URL\//)
        expect(request).toMatch(/"Authorization: Bearer \$(?:REMIT|ALICE)_KEY"|\/\.well-known\//)
      }
    }
  },
)

describe.skipIf(!hasModules())('one after the other, the README first, the requests of', () => {
  let remit: TestRemit
  let listener: Listener
  let env: Record<string, string>
  beforeAll(async () => {
    remit = await createTestRemit({ modules: await loadModules() })
    listener = await listen(remit.app, { host: '127.0.0.1', port: 0 })
    const { key } = await remit.organization()
    env = { PATH: process.env['PATH'] ?? '', REMIT_URL: listener.url, REMIT_KEY: key }
    for (const request of await readmeRequests(root, listener.url)) await run(request)
  })
  afterAll(async () => {
    await listener.stop()
    await remit.close()
  })

  const run = async (block: string): Promise<unknown> => {
    const { stdout } = await promisify(execFile)('sh', ['-c', block], { env })
    return JSON.parse(stdout)
  }

  it.each([
    ['api.md', 1, { decision: 'allow', reason: 'default_allow', agent_id: 'treasurer' }],
    ['api.md', 2, { agent_id: 'treasurer', daily_usd: 100 }],
    ['authzen.md', 0, { decision: true, context: { reason: 'default_allow' } }],
    ['dry-run.md', 0, { decision: 'deny', reason: 'policy_deny', matched: [{ id: 'overlay.0' }] }],
    ['guard.md', 0, { action: 'block', flagged: true }],
    ['scorers.md', 0, { scorer: 'exact_match', scores: [{ score: 1 }, { score: null }] }],
  ])('%s is answered as the page says', async (page, at, answer) => {
    expect(await run(blocksOf(page)[at] ?? '')).toMatchObject(answer)
  })

  it('approvals.md needs an approval once its rule is there', async () => {
    const [rule = '', question = ''] = blocksOf('approvals.md')

    expect(await run(rule)).toMatchObject({ id: 'large-payments' })
    expect(await run(question)).toMatchObject({
      decision: 'needs_approval',
      approval: { status: 'pending' },
    })
  })
})
