import type { ReadyReport } from '@remit/contract'
import { inFullRun, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createOrg } from '../support/cli.ts'
import { createInstallation } from '../support/installation.ts'
import type { Installation } from '../support/installation.ts'
import { request, startServer } from '../support/process.ts'
import type { RunningProcess } from '../support/process.ts'

const isRun = inFullRun('the first twenty calls') && hasModules()

type Call = readonly [method: 'POST' | 'PUT' | 'PATCH', path: string, body: object]

const authorize = (action: string, context: object = {}): Call => [
  'POST',
  '/v1/authorize',
  { agent_id: 'payer', action, context },
]

/** Everything once or twice: what somebody does who tries the product for an hour. */
const CALLS: readonly Call[] = [
  ['PATCH', '/v1/organization', { settings: { four_eyes: false, default_effect: 'deny' } }],
  [
    'POST',
    '/v1/identity/agents',
    { agent_id: 'payer', owners: [{ type: 'user', id: 'ada', email: 'ada@example.org' }] },
  ],
  ['POST', '/v1/identity/agents/payer/credentials', { scopes: ['authorize'] }],
  ['POST', '/v1/compliance/policies/dry-run', { agent_id: 'payer', action: 'mail.send' }],
  ['POST', '/v1/policies', { effect: 'allow', actions: ['mail.*', 'payments.*'] }],
  ['POST', '/v1/policies', { effect: 'deny', actions: ['secrets.*'] }],
  ['POST', '/v1/approval-rules/large', { actions: ['payments.*'], required_approvals: 1 }],
  ['POST', '/v1/spend-limits/payer', { daily_usd: 100 }],
  ['POST', '/v1/guard', { agent_id: 'payer', content: 'Good morning.' }],
  authorize('mail.send'),
  authorize('mail.send', { amount_usd: 5 }),
  authorize('mail.read'),
  authorize('secrets.read'),
  authorize('payments.transfer', { amount_usd: 20 }),
  authorize('unknown.action'),
  ['PATCH', '/v1/identity/agents/payer', { status: 'suspended' }],
  authorize('mail.send'),
  ['PATCH', '/v1/identity/agents/payer', { status: 'active' }],
  ['POST', '/v1/scorers', { scorer: 'exact_match', results: [{ output: 'a', expected: 'a' }] }],
  ['POST', '/v1/compliance/verify-ledger', {}],
]

describe.skipIf(!isRun).each(someDialects())(
  'twenty calls of one key to a running server on %s',
  (dialect) => {
    let installation: Installation
    let server: RunningProcess
    let send: (...call: Call) => Promise<unknown>
    beforeAll(async () => {
      installation = await createInstallation(dialect)
      const key = (await createOrg(installation.env)).key.secret
      const started = await startServer(installation.env)
      server = started.server
      send = async (method, path, body) => {
        const response = await request(`${started.url}${path}`, key, method, body)
        const text = await response.text()
        if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
        return JSON.parse(text)
      }
      for (const call of CALLS) await send(...call)
      const [, path, body] = authorize('payments.refund')
      const { approval } = (await send('POST', path, body)) as { approval: { id: string } }
      await send('POST', `/v1/approvals/${approval.id}/decide`, { decision: 'approve' })
      await send('POST', path, body)
    })
    afterAll(async () => {
      await server.stop()
      await installation.remove()
    })

    const reportOn = async (framework: string, days: number): Promise<ReadyReport> => {
      const to = new Date()
      const from = new Date(to.getTime() - days * 86_400_000)
      return (await send('POST', '/v1/compliance/reports', { framework, from, to })) as ReadyReport
    }

    test.each(
      ['soc2', 'eu_ai_act', 'nist_ai_rmf'].flatMap((framework) =>
        [1, 90, 365].map((days) => ({ framework, days })),
      ),
    )('satisfy no control of $framework over $days days', async ({ framework, days }) => {
      const report = await reportOn(framework, days)
      const { controls, ledger, summary } = report.content
      const satisfied = controls.filter(({ status }) => status === 'satisfied')

      expect(report.status).toBe('ready')
      expect(ledger.by_kind).toMatchObject({ 'authorization.decided': 9, 'agent.suspended': 1 })
      expect(satisfied.map(({ id }) => id)).toEqual([])
      expect(summary.satisfied).toBe(0)
    })

    test('leave controls about decisions with the reason and the figure', async () => {
      const { content } = await reportOn('eu_ai_act', 90)
      const about = content.controls.filter(
        ({ evidence }) => evidence[0]?.kind === 'authorization_decisions',
      )
      const checks = about.flatMap((control) => control.checks)

      expect(about.map(({ reason }) => reason)).toContain('too_young')
      const check = checks.find(({ id }) => id === 'DEC-2')
      expect(check).toMatchObject({
        result: 'too_young',
        basis: 9,
        least: { population: 30, days: 7, over: 'cases' },
      })
      // Two if midnight passes between the calls.
      expect([1, 2]).toContain(check?.days)
    })
  },
)
