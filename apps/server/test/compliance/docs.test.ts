import { readFileSync } from 'node:fs'
import type { ReadyReport } from '@remit/contract'
import { apiOf, createTestRemit } from '@remit/testing'
import type { TestOrganization, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { listen } from '../../src/boot/listen.ts'
import type { Listener } from '../../src/boot/listen.ts'
import { hasModules, loadModules } from '../../src/boot/modules.ts'
import { curlsIn, runShown, sinceASecond } from '../support/shown-commands.ts'

const page = readFileSync(new URL('../../../../docs/compliance.md', import.meta.url), 'utf8')
const [usual = '', firstDay = '', evidence = ''] = curlsIn(page)

describe.skipIf(!hasModules())('docs/compliance.md for an organization of today', () => {
  let remit: TestRemit
  let org: TestOrganization
  let listener: Listener
  let env: Record<string, string>
  beforeAll(async () => {
    const clock = sinceASecond()
    remit = await createTestRemit({ modules: await loadModules(), clock })
    listener = await listen(remit.app, { host: '127.0.0.1', port: 0 })
    org = await remit.organization()
    clock.catchUp()
    env = { PATH: process.env['PATH'] ?? '', REMIT_URL: listener.url, REMIT_KEY: org.key }
  })
  afterAll(async () => {
    await listener.stop()
    await remit.close()
  })

  it('says that the usual period has nothing in it', async () => {
    const { id } = JSON.parse((await runShown(usual, env)).text) as ReadyReport
    await vi.waitFor(async () => {
      const report = await apiOf(remit, org).ok('getReport', { params: { id } })
      const content = { scope: { plan: null }, summary: { satisfied: 0 } }
      expect(report).toMatchObject({ status: 'ready', content })
    }, 10_000)
  })

  it('has commands that get a report on the first day, and the entries behind it', async () => {
    const made = await runShown(firstDay, env)
    const { id } = JSON.parse(made.text) as ReadyReport
    const api = apiOf(remit, org)
    await vi.waitFor(async () => {
      const report = await api.ok('getReport', { params: { id } })
      expect(report).toMatchObject({ status: 'ready', content: { scope: { plan: 'enterprise' } } })
    }, 10_000)

    // 202 where the first thread of the process is slow to start.
    expect([201, 202]).toContain(made.status)
    expect((await runShown(evidence.replace('<id>', id), env)).status).toBe(200)
  })
})
