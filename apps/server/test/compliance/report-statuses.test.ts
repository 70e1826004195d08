import type { ReadyReport } from '@remit/contract'
import { createClock, readyReport, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise } from '../identity/support.ts'

const FRAMEWORKS = ['soc2', 'eu_ai_act', 'nist_ai_rmf'] as const
const LOOK_ALIKES = [
  { action: 'authorization.decided', outcome: 'success', agent_id: 'payer' },
  { action: 'approval.decided', metadata: { kind: 'approval.decided', decision: 'approved' } },
  { action: 'agent.registered', metadata: { agent: { agent_id: 'payer', owners: ['ada'] } } },
  { action: 'ledger.verified', metadata: { status: 'ok' } },
  { action: 'scorer.ran', metadata: { passed: 1000, failed: 0 } },
]

describe.skipIf(!hasModules()).each(someDialects())(
  'a report over the whole product on %s',
  (dialect) => {
    let all: Api
    let clock: TestClock
    beforeAll(async () => {
      clock = createClock()
      all = await createEnterprise({ dialect, clock })
    })
    afterAll(() => all.remit.close())

    const anew = async () => {
      const api = all.as(await all.remit.organization())
      clock.advance(1000)
      return api
    }
    const report = async (api: Api, framework: string): Promise<ReadyReport> => {
      clock.advance(1000)
      const to = new Date(clock.now()).toISOString()
      const body = { framework, from: '2026-11-20', to }
      return readyReport(api, body)
    }
    const statuses = async (api: Api) => {
      const found: string[] = []
      for (const framework of FRAMEWORKS) {
        const { content } = await report(api, framework)
        found.push(...content.controls.map(({ id, status, reason }) => `${id} ${status} ${reason}`))
      }
      return found
    }

    it('finds nothing satisfied, and nothing amiss, where nothing was done', async () => {
      for (const framework of FRAMEWORKS) {
        const { content } = await report(await anew(), framework)
        expect(content.ledger.verified).toBe(true)
        expect(content.summary).toMatchObject({ satisfied: 0, attention: 0 })
      }
    })

    it('names the person of the requesting key, and nobody for a shared key', async () => {
      const api = await anew()
      const person = 'ada@example.org'
      const { key, secret } = await api.ok('createKey', { body: { role: 'admin', person } })
      const own = await report(api.as({ ...api.org, key: secret ?? '' }), 'soc2')

      expect(own).toMatchObject({
        generated_by: { type: 'key', id: key.id },
        generated_by_person: person,
      })
      expect((await report(api, 'soc2')).generated_by_person).toBeNull()
    })

    it('counts nothing that a caller writes, whatever it looks like', async () => {
      const api = await anew()
      for (const body of LOOK_ALIKES) await api.ok('appendEntry', { body })

      expect(await statuses(api)).toEqual(await statuses(await anew()))
      const { content } = await report(api, 'soc2')
      expect(content.ledger.by_kind).toMatchObject({ 'entry.appended': LOOK_ALIKES.length })
    })

    it('counts a dry-run as no decision', async () => {
      const api = await anew()
      const body = { agent_id: 'payer', action: 'payments.transfer' }
      for (let i = 0; i < 3; i++) await api.ok('dryRunPolicies', { body })
      const { content } = await report(api, 'soc2')
      const control = content.controls.find(({ id }) => id === 'CC7.2')

      expect(content.ledger.by_kind).toMatchObject({ 'policy.dry_run': 3 })
      expect(control).toMatchObject({ status: 'not_evidenced', reason: 'not_exercised' })
    })

    it('sees what was decided, and that the agents were in nobody’s registry', async () => {
      const api = await anew()
      const body = { agent_id: 'payer', action: 'payments.transfer' }
      for (let i = 0; i < 3; i++) await api.ok('authorize', { body })
      const made = await report(api, 'soc2')
      const finding = made.content.findings.find(({ check }) => check === 'DEC-1')
      const query = { check: 'DEC-1' }
      const { data } = await api.ok('listReportEvidence', { params: { id: made.id }, query })

      expect(finding).toMatchObject({ count: 3, agents: ['payer'] })
      expect(finding?.text).toMatch(
        /^1 unregistered caller asked for decisions, with 3 allows\. Agents: payer\./,
      )
      expect(data.map(({ seq, kind }) => [seq, kind])).toEqual(
        finding?.seqs.map((seq) => [seq, 'authorization.decided']),
      )
      expect(made.content.controls.find(({ id }) => id === 'CC7.2')).toMatchObject({
        status: 'attention',
        findings: expect.arrayContaining([finding?.id]) as string[],
      })
    })
  },
)
