import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
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

  const run = async (block: string, variables = env): Promise<unknown> => {
    const { stdout } = await promisify(execFile)('sh', ['-c', block], { env: variables })
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

  it('budgets.md keep what the page says', async () => {
    const org = { ...env, REMIT_KEY: (await remit.organization()).key }
    const answers: unknown[] = []
    for (const block of blocksOf('budgets.md')) answers.push(await run(block, org))

    expect(answers).toMatchObject([
      { id: 'research', limit: 100, warnings: [] },
      { id: 'report', limit: 60, warnings: [] },
      {
        decision: 'deny',
        reason: 'budget_exceeded',
        budgets: [{ id: 'research', remaining: 40 }],
        retry_at: null,
      },
      { data: [{ id: 'report' }, { id: 'research', usage: { kept: 60, remaining: 40 } }] },
    ])
  })

  it('which-rule.md do what the page says of them', async () => {
    const org = { ...env, REMIT_KEY: (await remit.organization()).key }
    const send = async (path: string, body: object) => {
      const response = await fetch(`${listener.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${org.REMIT_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return (await response.json()) as { decision?: string; reason?: string }
    }
    const ask = async (agent_id: string, action: string, amount_usd?: number) => {
      const context = amount_usd === undefined ? {} : { amount_usd }
      const { decision, reason } = await send('/v1/authorize', { agent_id, action, context })
      return `${decision} ${reason}`
    }
    const call = async (source_agent_id: string, target_agent_id: string, action: string) =>
      (await send('/v1/identity/authorize', { source_agent_id, target_agent_id, action })).decision
    for (const agent_id of ['old-bot', 'buyer', 'seller'])
      await send('/v1/identity/agents', { agent_id, owners: [{ type: 'user', id: 'ada' }] })
    const before = [await ask('old-bot', 'mail.read'), await ask('mail-bot', 'mail.send')]
    const blocks = blocksOf('which-rule.md')
    for (const block of blocks) await run(block, org)

    expect(before).toEqual(['allow default_allow', 'allow default_allow'])
    expect(blocks).toHaveLength(6)
    expect([
      await ask('old-bot', 'mail.read'),
      await ask('anybody', 'db.drop'),
      await ask('buyer', 'payments.transfer', 300),
      await ask('buyer', 'payments.transfer', 300),
      await ask('helpdesk', 'refunds.create', 40),
      await ask('helpdesk', 'refunds.create', 400),
      await ask('helpdesk', 'refunds.create'),
      await ask('mail-bot', 'mail.read'),
      await ask('mail-bot', 'mail.send'),
      await ask('helpdesk', 'mail.send'),
    ]).toEqual([
      'deny agent_suspended',
      'deny policy_deny',
      'allow default_allow',
      'deny spend_limit_daily',
      'allow default_allow',
      'needs_approval approval_required',
      'needs_approval approval_required',
      'allow permission_grant',
      'deny no_permission',
      'allow default_allow',
    ])
    expect([
      await call('buyer', 'seller', 'quote.get'),
      await call('buyer', 'seller', 'order.place'),
      await call('seller', 'buyer', 'quote.get'),
    ]).toEqual(['allow', 'deny', 'deny'])
  })
})
