import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '@remit/testing'
import { OPERATOR, updateSettings } from '@remit/core/orgs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createRemoteCommands, runCommand } from './support/remote-commands.ts'
import type { RemoteCommands } from './support/remote-commands.ts'

const POLICY = `apiVersion: remit.dev/v1
kind: Policy
name: no-payments
spec:
  effect: deny
  actions: [payments.*]
`
const testsOf = (decision: string) => `apiVersion: remit.dev/v1
kind: Tests
name: payments
spec:
  cases:
    - name: no payment <at all>
      request: { agent_id: payer, action: payments.transfer }
      expect: { decision: ${decision}, matched: [no-payments] }
`
const ALONE = { REMIT_EVALUATION: '1' }

describe.skipIf(!hasModules())('remit policy', () => {
  let commands: RemoteCommands
  let folder: string
  let set: string
  let sets = 0
  beforeAll(async () => {
    commands = await createRemoteCommands()
  })
  afterAll(() => commands.close())
  beforeEach(() => {
    folder = scratchFolder('policy')
    set = `set-${++sets}`
  })
  afterEach(async () => {
    rmSync(folder, { recursive: true })
    await commands.api.call('removePolicySet', {
      params: { id: set },
      query: { objects: 'delete' },
    })
  })

  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const policy = (command: string, ...options: string[]) =>
    commands.run(['policy', command, folder, '--set', set, ...options])
  const alone = (command: string, ...options: string[]) =>
    runCommand(['policy', command, folder, ...options], ALONE)

  test('plan, apply and plan again, with an exit code for changes', async () => {
    mkdirSync(join(folder, 'deep'))
    write('deep/a.yml', POLICY)
    write('b.yaml', testsOf('deny'))

    const planned = await policy('plan')
    expect(planned).toMatchObject({ code: 0, stderr: '' })
    expect(planned.stdout).toContain('  + create Policy no-payments\n      effect: "deny"\n')
    expect(planned.stdout).toContain('Tests: 1 passed, 0 failed')
    expect((await policy('plan', '--exit-code')).code).toBe(10)

    const applied = await policy('apply', '--reason', 'No payments yet')
    expect(applied).toMatchObject({ code: 0, stderr: '' })
    expect(applied.stdout).toContain('Applied as revision 1.')
    expect((await policy('plan', '--exit-code')).code).toBe(0)
    expect((await policy('apply')).stdout).toContain('Nothing to apply.')
    const { data } = await commands.api.ok('listEntries', { query: { order: 'desc' } })
    expect(data.find(({ kind }) => kind === 'policy_set.applied')).toMatchObject({
      data: { change_reason: 'No payments yet', tests: { passed: 1, failed: 0 } },
    })
  })

  test('count the recorded decisions that a plan would change', async () => {
    for (const action of ['payments.transfer', 'payments.refund', 'mail.send'])
      await commands.api.ok('authorize', { body: { agent_id: 'replayed', action } })
    write('a.yaml', POLICY)
    const summary = join(folder, 'plan.md')

    const { code, stdout } = await policy('plan', '--replay', '1d', '--markdown', summary)

    expect(code).toBe(0)
    const counted = 'Replay: 2 of 3 recorded decisions would differ (2 allow to deny)'
    expect(stdout).toContain(counted)
    expect(readFileSync(summary, 'utf8')).toContain(counted)
    expect((await policy('plan', '--replay', '1h')).code).toBe(2)
  })

  test('stop at a failed test, and say what was expected', async () => {
    write('a.yaml', POLICY)
    write('b.yaml', testsOf('allow'))
    const failed = 'x payments / no payment <at all>: expected allow, matched no-payments; got deny'
    for (const command of ['plan', 'apply']) {
      const { code, stdout } = await policy(command)
      expect([command, code]).toEqual([command, 1])
      expect(stdout).toContain(failed)
    }
    expect((await commands.api.ok('listPolicies')).data).toEqual([])
  })

  test('stop at a property that does not hold, with a request that shows it', async () => {
    const property = (never: string, require: string) =>
      `apiVersion: remit.dev/v1
kind: Property
name: no-payment
spec: { for: { actions: [payments.*] }, never: ${never}, require: ${require} }
`
    write('a.yaml', POLICY)
    write('c.yaml', property('allow', 'proved'))
    expect((await policy('plan')).stdout).toContain('Property no-payment: proved')
    expect((await policy('apply')).code).toBe(0)
    const { data } = await commands.api.ok('listEntries', { query: { order: 'desc' } })
    expect(data.find(({ kind }) => kind === 'policy_set.applied')).toMatchObject({
      data: { properties: { 'no-payment': 'proved' } },
    })

    // A condition with a function can only be searched.
    const unclear = "effect: deny\n  condition: context.memo.startsWith('x') || true"
    write('a.yaml', POLICY.replace('effect: deny', unclear))
    for (const command of ['plan', 'apply'])
      expect(await policy(command)).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('Property no-payment: searched') as string,
      })
    write('c.yaml', property('allow', 'searched'))
    expect((await policy('apply')).code).toBe(0)

    write('a.yaml', POLICY.replace('payments.*', 'payments.transfer'))
    write('c.yaml', property('allow', 'proved'))
    const xml = join(folder, 'tests.xml')
    const { code, stdout } = await policy('apply', '--junit', xml)
    expect(code).toBe(1)
    const suite = '<testsuite name="properties" tests="1" failures="1">'
    expect(readFileSync(xml, 'utf8')).toContain(suite)
    expect(stdout).toMatch(/Property no-payment: violated, \{"agent_id":.*"action":"payments\./)
    const documents = (await commands.run(['policy', 'plan', folder, '--set', set, '--json']))
      .stdout
    expect(JSON.parse(documents)).toMatchObject({
      plan: { properties: [{ result: 'violated', counterexample: { context: {} } }] },
    })
  })

  test('notice drift, and overwrite it on demand', async () => {
    write('a.yaml', POLICY)
    await policy('apply')
    await commands.api.ok('deletePolicy', { params: { policyID: 'no-payments' } })

    const planned = await policy('plan', '--exit-code')
    expect(planned.code).toBe(11)
    expect(planned.stdout).toMatch(/! Policy no-payments was deleted by \S+ at \S+ \(entry \d+\)/)
    const refused = await policy('apply')
    expect(refused).toMatchObject({ code: 11 })
    expect(refused.stdout).toContain('Nothing is applied.')

    expect((await policy('apply', '--overwrite-drift')).code).toBe(0)
    expect((await policy('plan')).code).toBe(0)

    await commands.api.ok('deletePolicy', { params: { policyID: 'no-payments' } })
    write('b.yaml', testsOf('allow'))
    // A failed test is worse than drift.
    expect((await policy('plan')).code).toBe(1)
  })

  test('accept drift that the documents have already', async () => {
    write('a.yaml', POLICY)
    await policy('apply')
    await commands.api.ok('replacePolicy', {
      params: { policyID: 'no-payments' },
      body: { effect: 'deny', actions: ['payments.transfer'] },
      headers: { 'if-match': '*' },
    })
    write('a.yaml', POLICY.replace('payments.*', 'payments.transfer'))
    expect((await policy('plan')).code).toBe(11)

    expect(await policy('apply')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Applied as revision 2.') as string,
    })
    expect((await policy('plan')).code).toBe(0)
  })

  test('wait for the approval of somebody else', async () => {
    write('a.yaml', POLICY)
    expect((await policy('apply')).code).toBe(0)
    const { api } = commands
    const approver = await api.remit.key(api.org.id, 'approver')
    await api.ok('changeOrganization', {
      body: { settings: { rule_changes: 'approve_weakening' } },
    })
    try {
      write('a.yaml', POLICY.replace('payments.*', 'payments.transfer'))
      const planned = await policy('plan')
      expect(planned.stdout).toContain('Applying it needs an approval: rule_changes is approve_w')
      const held = await policy('apply', '--json')
      expect(held.code).toBe(12)
      const { applied, approval } = JSON.parse(held.stdout) as {
        applied: null
        approval: { id: string; status: string }
      }
      expect([applied, approval.status]).toEqual([null, 'pending'])
      const waiting = policy('apply', '--wait', '1m')
      const vote = { params: { requestID: approval.id }, body: { decision: 'approve' } }
      await api.ok('decideApproval', { ...vote, key: approver })
      const done = await waiting
      expect(done).toMatchObject({ code: 0, stderr: '' })
      expect(done.stdout).toContain('Applied as revision 2.')
      expect((await policy('apply', '--wait', '10')).stderr).toContain('--wait must be a number')
    } finally {
      await updateSettings(api.remit.writer, api.org.id, OPERATOR, { rule_changes: 'direct' })
    }
  })

  test('pull what a plan then does not change, byte for byte the same', async () => {
    write('a.yaml', POLICY)
    write('b.json', JSON.stringify({ ...BARE, name: 'by-json' }))
    await policy('apply')
    const read = () =>
      Object.fromEntries(
        readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
      )
    rmSync(join(folder, 'a.yaml'))
    rmSync(join(folder, 'b.json'))

    expect((await policy('pull')).code).toBe(0)
    const first = read()
    expect(Object.keys(first)).toEqual(['policies.yaml'])
    expect(first['policies.yaml']).toContain('name: no-payments\nspec:\n  effect: deny\n')
    expect(first['policies.yaml']).not.toContain('enabled')
    expect((await policy('plan', '--exit-code')).code).toBe(0)

    expect((await policy('pull')).stderr).toContain('already exists and is not replaced')
    expect((await policy('pull', '--replace')).code).toBe(0)
    expect(read()).toEqual(first)
  })

  test('pull and plan trust policies, with labels and times, without a change', async () => {
    const spec = {
      effect: 'allow',
      source_agents: [{ labels: { team: 'pay', env: 'prod' } }, 'payer-*'],
      expires_at: '2030-01-01T00:00:00Z',
    }
    write('a.json', JSON.stringify({ ...BARE, kind: 'TrustPolicy', name: 'pay-team', spec }))
    expect((await policy('apply')).code).toBe(0)
    expect((await policy('plan', '--exit-code')).code).toBe(0)
    rmSync(join(folder, 'a.json'))
    await policy('pull')
    expect(readdirSync(folder)).toEqual(['trust-policies.yaml'])
    expect((await policy('plan', '--exit-code')).code).toBe(0)
    const text = readFileSync(join(folder, 'trust-policies.yaml'), 'utf8')
    write('trust-policies.yaml', text.replace('allow', 'deny'))
    expect((await policy('plan', '--exit-code')).code).toBe(10)
    expect((await policy('apply')).code).toBe(0)
    const { data } = await commands.api.ok('listTrustPolicies')
    expect(data).toMatchObject([{ id: 'pay-team', effect: 'deny' }])
  })

  test('check and test a folder without a server', async () => {
    write('a.yaml', POLICY)
    expect(await alone('validate')).toMatchObject({ code: 0, stdout: '1 documents are valid.\n' })
    write('b.yaml', testsOf('allow'))
    const [xml, summary] = [join(folder, 'tests.xml'), join(folder, 'plan.md')]

    const { code, stdout } = await alone('test', '--junit', xml, '--markdown', summary)

    expect(code).toBe(1)
    expect(stdout).toContain('Tests: 0 passed, 1 failed')
    const text = readFileSync(xml, 'utf8')
    expect(text).toContain('<testsuite name="payments" tests="1" failures="1">')
    expect(text).toContain('name="no payment &lt;at all&gt;"')
    expect(text).toContain('<testsuites tests="1" failures="1">')
    expect(readFileSync(summary, 'utf8')).toContain('| create | Policy | no-payments |')
  })

  test.each([
    ['a member that does not exist', 'spec:', 'spec:\n  efect: deny', /a\.yaml:5: spec\.efect /],
    ['a name that appears twice', 'spec:', 'kind: Policy\nspec:', /a\.yaml:4:1: .*unique/],
    ['an anchor', 'name: no-payments', 'name: &x no-payments', /a\.yaml:3:\d+: .*anchors/],
    ['an alias', 'effect: deny', 'effect: *x', /a\.yaml:5:\d+: .*alias/i],
    ['a merge key', 'effect: deny', '<<: { effect: deny }', /a\.yaml:5:\d+: .*merge/],
    ['a tag', 'effect: deny', 'effect: !mine deny', /a\.yaml:5:\d+: .*tag/i],
    ['a tag of YAML', 'effect: deny', 'effect: !!str deny', /a\.yaml:5:\d+: .*tag/i],
    ['a number that is not finite', 'effect: deny', 'effect: 1e400', /a\.yaml:5:\d+: .*1e400/],
    [
      'a kind that does not exist',
      'kind: Policy',
      'kind: Police',
      /a\.yaml:2: kind must be one of/,
    ],
    [
      'a condition that does not compile',
      'effect: deny',
      "effect: deny\n  condition: 'context.'",
      /a\.yaml:6: spec\.condition line 1/,
    ],
  ])('refuse %s with file and line', async (_, text, wrong, message) => {
    write('a.yaml', POLICY.replace(text, wrong))
    const { code, stderr } = await alone('validate')
    expect(stderr).toMatch(message)
    expect(code).toBe(1)
  })

  test('cannot run without documents, a folder, a server or a key', async () => {
    expect(await policy('plan')).toMatchObject({ code: 1 })
    const missing = await commands.run(['policy', 'plan', join(folder, 'missing')])
    expect(missing).toMatchObject({ code: 2 })
    write('a.yaml', POLICY)
    const url = 'http://127.0.0.1:9'
    expect((await policy('plan', '--url', url)).code).toBe(2)
    const args = ['policy', 'plan', folder]
    expect((await commands.run(args, { REMIT_KEY: '' })).code).toBe(2)
    expect(await commands.run(args, { REMIT_KEY: 'rmk_wrong' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('refuses') as string,
    })
  })

  test('plan as a reader, and apply only as an administrator', async () => {
    write('a.yaml', POLICY)
    const REMIT_KEY = await commands.api.remit.key(commands.api.org.id, 'read')
    const as = (command: string) =>
      commands.run(['policy', command, folder, '--set', set], { REMIT_KEY })
    expect((await as('plan')).code).toBe(0)
    expect((await as('apply')).code).toBe(1)
  })
})

/** Code blocks of a page, by their language. */
const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, code = '']) => code,
  )

describe.skipIf(!hasModules())('docs/policy-as-code.md', () => {
  const page = readFileSync(new URL('../../../docs/policy-as-code.md', import.meta.url), 'utf8')
  let commands: RemoteCommands
  beforeAll(async () => {
    commands = await createRemoteCommands()
  })
  afterAll(() => commands.close())

  test('tests, plans, applies and pulls what it shows', async () => {
    const folder = scratchFolder('policy')
    mkdirSync(join(folder, 'rules'))
    for (const text of blocksOf(page, 'yaml'))
      writeFileSync(join(folder, /^# (\S+)/.exec(text)?.[1] ?? ''), text)
    const shown = blocksOf(page, 'sh').flatMap((block) => block.trim().split('\n'))
    const results = []
    for (const line of shown) {
      const words = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word)
      const [, group = '', command = '', where = '', ...options] = words
      const env = command === 'test' ? ALONE : {}
      const args = [group, command, join(folder, where), ...options]
      results.push([line, await commands.run(args, env)] as const)
    }
    rmSync(folder, { recursive: true })

    expect(results.map(([line, { code, stderr }]) => [line, code, stderr])).toEqual(
      shown.map((line) => [line, 0, '']),
    )
    const outputs = results.map(([, { stdout }]) => stdout)
    expect(outputs).toEqual([
      expect.stringContaining('Tests: 3 passed, 0 failed'),
      expect.stringContaining('3 to create'),
      expect.stringContaining('Applied as revision 1.'),
      expect.stringContaining('no changes, 3 unchanged'),
      expect.stringContaining('documents in'),
      expect.stringContaining('to adopt'),
    ])
  })
})

const BARE = {
  apiVersion: 'remit.dev/v1',
  kind: 'Policy',
  name: '',
  spec: { effect: 'deny', actions: ['x'], condition: 'context.n > 1' },
}
