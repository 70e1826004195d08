import { readFileSync } from 'node:fs'
import { createTestRemit, inFullRun } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../src/boot/listen.ts'
import type { Listener } from '../src/boot/listen.ts'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { curlsIn, runShown, sinceASecond } from './support/shown-commands.ts'

const isRun = inFullRun('the schemas in docs/api.md') && hasModules()

const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8')

const commands = curlsIn(page)

describe.skipIf(!isRun)('docs/api.md', () => {
  let remit: TestRemit
  let listener: Listener
  let env: Record<string, string>
  beforeAll(async () => {
    const clock = sinceASecond()
    remit = await createTestRemit({ modules: await loadModules(), clock })
    listener = await listen(remit.app, { host: '127.0.0.1', port: 0 })
    const { key } = await remit.organization()
    clock.catchUp()
    env = { PATH: process.env['PATH'] ?? '', REMIT_URL: listener.url, REMIT_KEY: key }
  })
  afterAll(async () => {
    await listener.stop()
    await remit.close()
  })

  it('has commands that work as they stand, one after the other', async () => {
    let decisionId = ''
    for (const command of commands) {
      const { status, text } = await runShown(
        command.replace('<decision_id of the allow>', decisionId).replace('> ledger.ndjson', ''),
        env,
      )
      expect(`${status} ${command}`).toMatch(/^20[01] /)
      decisionId = /"decision_id":"(dec_\w+)"/.exec(text)?.[1] ?? decisionId
    }
    expect(commands.length).toBeGreaterThan(10)
  })

  it('shows the answer of its first command as it is', async () => {
    const example = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? '') as Record<
      string,
      unknown
    >

    const { text } = await runShown((commands[0] ?? '').replaceAll('treasurer', 'unlimited'), env)

    const answer = JSON.parse(text) as Record<string, unknown>
    expect(Object.keys(example)).toEqual(Object.keys(answer))
    const { decision, reason, message, matched } = answer
    expect(example).toMatchObject({ decision, reason, message, matched })
  })
})
