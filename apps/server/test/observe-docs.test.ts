import { readFileSync } from 'node:fs'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { listen } from '../src/boot/listen.ts'
import type { Listener } from '../src/boot/listen.ts'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { curlsIn, runShown, sinceASecond } from './support/shown-commands.ts'

const page = new URL('../../../docs/from-observe-to-enforce.md', import.meta.url)
const commands = curlsIn(readFileSync(page, 'utf8'))

describe.skipIf(!hasModules())('docs/from-observe-to-enforce.md', () => {
  let remit: TestRemit
  let listener: Listener
  let env: Record<string, string>
  beforeAll(async () => {
    const clock = sinceASecond()
    const settings = { watchEveryMs: 20 }
    remit = await createTestRemit({ modules: await loadModules(), clock, settings })
    listener = await listen(remit.app, { host: '127.0.0.1', port: 0 })
    const { key } = await remit.organization()
    clock.catchUp()
    env = { PATH: process.env['PATH'] ?? '', REMIT_URL: listener.url, REMIT_KEY: key }
  })
  afterAll(async () => {
    await listener.stop()
    await remit.close()
  })

  const next = () => commands.shift() ?? ''
  async function answerTo(command: string): Promise<unknown> {
    const { status, text } = await runShown(command, env)
    expect([command, status, text].join('\n')).toMatch(/\n20[01]\n/)
    return JSON.parse(text)
  }
  /** Statistics follow the ledger some time later. */
  const counts = (command: string, expected: object[]) =>
    vi.waitFor(
      async () =>
        expect(await answerTo(command)).toMatchObject({ data: expect.arrayContaining(expected) }),
      { timeout: 30_000, interval: 200 },
    )
  const count = (key: string, n: number): object =>
    expect.objectContaining({ key, count: n }) as object

  it('leads from a server that records to one that denies by default', async () => {
    expect(await answerTo(next())).toMatchObject({ agent_id: 'invoice-bot' })
    for (let i = 0; i < 3; i++) expect(await answerTo(next())).toMatchObject({ decision: 'allow' })
    await counts(next(), [count('payments.transfer', 2), count('db.drop_table', 1)])

    for (let i = 0; i < 3; i++) expect(await answerTo(next())).toMatchObject({ mode: 'observe' })
    for (let i = 0; i < 2; i++)
      expect(await answerTo(next())).toMatchObject({ decision: 'allow', reason: 'default_allow' })
    expect(await answerTo(next())).toMatchObject({
      data: [
        {
          data: {
            observed: [
              { id: 'invoices', would: 'allow' },
              { id: 'large-payments', would: 'needs_approval' },
            ],
          },
        },
        { data: { observed: [{ kind: 'policy', id: 'no-drops', revision: 1, would: 'deny' }] } },
      ],
    })
    await counts(next(), [
      count('policy:no-drops:deny', 1),
      count('policy:invoices:allow', 1),
      count('approval_rule:large-payments:needs_approval', 1),
    ])

    for (let i = 0; i < 3; i++) expect(await answerTo(next())).toMatchObject({ mode: 'enforce' })
    expect(await answerTo(next())).toMatchObject({ flipped: { allow_to_deny: 2 } })
    expect(await answerTo(next())).toMatchObject({ settings: { default_effect: 'deny' } })
    expect(await answerTo(next())).toMatchObject({ decision: 'deny', reason: 'default_deny' })
    expect(await answerTo(next())).toMatchObject({ matched: [{ id: 'invoices' }] })
    expect(commands).toEqual([])
  }, 120_000)
})
