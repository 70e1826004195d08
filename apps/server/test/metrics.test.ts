import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createApi } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { stringify } from 'yaml'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { hasPrometheus, Prometheus } from './support/prometheus.ts'

const MONITORING = resolve(import.meta.dirname, '../../../deploy/monitoring')
const pathOf = (name: string) => join(MONITORING, name)
const textOf = (name: string) => readFileSync(pathOf(name), 'utf8')

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined
if (!hasPromtool) process.stderr.write('skipped: the tests of metrics and alerts need promtool\n')

function promtool(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input })
  return `${status} ${stdout.toString()}${stderr.toString()}`
}

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
}

/** As Grafana sends them, for the job `remit`. */
const expressions = (): string[] =>
  (JSON.parse(textOf('dashboard.json')) as Dashboard).panels
    .flatMap(({ targets }) => targets.map(({ expr }) => expr))
    .map((expr) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', 'remit'))

describe.skipIf(!hasModules())('the metrics', () => {
  let api: Api
  let text: string
  const folder = mkdtempSync(join(tmpdir(), 'remit-metrics-'))
  // It answers no request for the spend of an agent.
  const broken = createServer((_, response) => void response.writeHead(500).end())
  beforeAll(async () => {
    await new Promise<void>((done) => void broken.listen(0, '127.0.0.1', done))
    const spendUrl = `http://127.0.0.1:${(broken.address() as AddressInfo).port}/`
    api = await createApi({
      modules: await loadModules(),
      settings: { spendUrl, checkpointDir: folder, watchEveryMs: 20 },
    })
    await api.ok('createPolicy', { body: { effect: 'deny', actions: ['db.*'] } })
    await api.ok('setApprovalRule', { params: { id: 'large' }, body: { actions: ['pay.*'] } })
    const observed = { mode: 'observe', effect: 'deny' } as const
    await api.ok('createPolicy', { body: { ...observed, actions: ['read'] } })
    await api.ok('createPolicy', {
      body: { ...observed, actions: ['pay.*'], condition: 'context.x' },
    })
    await api.ok('setSpendLimit', { params: { id: 'spender' }, body: { daily_usd: 5 } })
    for (const action of ['read', 'read', 'db.drop', 'pay.out'])
      await api.ok('authorize', { body: { agent_id: 'a', action } })
    await api.ok('authorize', {
      body: { agent_id: 'spender', action: 'read', context: { amount_usd: 1 } },
    })
    text = await vi.waitUntil(
      async () => {
        const said = await (await api.remit.app.request('/metrics')).text()
        // The second request for the spend may fail after the decision.
        const isWhole = said.includes('\nremit_spend_source_failures_total 2\n')
        return isWhole && /^remit_checkpoint_age_seconds \d/m.test(said) && said
      },
      { timeout: 60_000 },
    )
  })
  afterAll(async () => {
    await api.remit.close()
    broken.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it.each([
    'remit_decisions_total{decision="allow",reason="default_allow"} 2',
    'remit_decisions_total{decision="deny",reason="policy_deny"} 1',
    'remit_decisions_total{decision="needs_approval",reason="approval_required"} 1',
    'remit_decision_seconds_count 5',
    'remit_observed_rules_total{would="deny"} 3',
    'remit_observed_rules_total{would="error"} 1',
    'remit_approvals_pending 1',
    'remit_webhook_backlog 0',
    'remit_sink_lag_entries 0',
    'remit_spend_source_failures_total 2',
  ])('say %s', (line) => {
    expect(text.split('\n')).toContain(line)
  })

  it.each(['remit_queue_wait_seconds', 'remit_batch_size', 'remit_lock_wait_seconds'])(
    'measure %s of every transaction',
    (name) => {
      expect(Number(new RegExp(`^${name}_count (\\d+)`, 'm').exec(text)?.[1])).toBeGreaterThan(7)
    },
  )

  it('say how old the oldest approval request is', () => {
    expect(text).toMatch(/^remit_approval_oldest_pending_seconds \d/m)
  })

  it('are all that the dashboard and the alerts read', () => {
    const known = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name],
      ),
    )
    const read = [...expressions(), textOf('alerts.yaml')].flatMap(
      (expr) => expr.match(/\b(remit|nodejs|process)_\w+/g) ?? [],
    )

    expect(read.length).toBeGreaterThan(20)
    expect(read.filter((name) => !known.has(name))).toEqual([])
  })

  it.skipIf(!hasPromtool)('have names that promtool accepts', () => {
    expect(promtool(['check', 'metrics'], text)).toBe('0 ')
  })

  describe.skipIf(!hasPrometheus)('in a Prometheus', () => {
    const page = createServer((_, response) => {
      void Promise.resolve(api.remit.app.request('/metrics')).then(async (answer) =>
        response
          .setHeader('content-type', answer.headers.get('content-type') ?? '')
          .end(await answer.text()),
      )
    })
    let prometheus: Prometheus
    beforeAll(async () => {
      await new Promise<void>((done) => void page.listen(0, '127.0.0.1', done))
      const target = `127.0.0.1:${(page.address() as AddressInfo).port}`
      prometheus = await Prometheus.start(target, pathOf('alerts.yaml'))
    })
    afterAll(async () => {
      await prometheus.stop()
      page.closeAllConnections()
      page.close()
    })

    it.each(expressions())('give the dashboard a value for %s', async (expr) => {
      await vi.waitFor(
        async () => expect((await prometheus.query(expr)).length).toBeGreaterThan(0),
        { timeout: 60_000, interval: 200 },
      )
    })

    it('let every alert be evaluated', async () => {
      await vi.waitFor(
        async () => {
          const rules = await prometheus.rules()

          expect(rules.length).toBeGreaterThan(8)
          expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
        },
        { timeout: 60_000, interval: 200 },
      )
    })
  })
})

describe.skipIf(!hasPromtool)('deploy/monitoring', () => {
  it('has alerts that fire when they should, and only then', () => {
    expect(promtool(['check', 'rules', pathOf('alerts.yaml')])).toMatch(/^0 .*SUCCESS/s)
    expect(promtool(['test', 'rules', pathOf('alerts.test.yaml')])).toMatch(/^0 .*SUCCESS/s)
  })

  it('has a dashboard with valid expressions', () => {
    const folder = mkdtempSync(join(tmpdir(), 'remit-dashboard-'))
    const rules = expressions().map((expr, i) => ({ record: `panel:${i}`, expr }))
    writeFileSync(join(folder, 'rules.yaml'), stringify({ groups: [{ name: 'panels', rules }] }))
    const checked = promtool(['check', 'rules', join(folder, 'rules.yaml')])
    rmSync(folder, { recursive: true, force: true })

    expect(checked).toMatch(/^0 .*SUCCESS/s)
  })
})
