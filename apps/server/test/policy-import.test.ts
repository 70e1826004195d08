import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { preparsePolicySet, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs'
import { createApi, runs, scratchFolder } from '@remit/testing'
import type { Api } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { importCedar, importClaude } from '../src/cli/policy-import.ts'
import type { Import } from '../src/cli/policy-import.ts'
import { runCommand } from './support/remote-commands.ts'

const permissions = {
  deny: ['WebFetch', 'Edit', 'Bash(rm:*)', 'mcp__files__read', 'mcp__a__b__c', 'mcp__git', 'Oh no'],
  ask: ['Bash', 'mcp__db__*', 'mcp__db__drop_*'],
  allow: ['Read'],
  defaultMode: 'plan',
}

interface Request {
  readonly agent_id: string
  readonly action: string
  readonly resource?: string
  readonly context?: object
}

describe.skipIf(!hasModules())('remit policy import', () => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ modules: await loadModules() })
  })
  afterAll(() => api.remit.close())

  /** The decisions with the documents, in an organization without other rules. */
  async function decide({ documents }: Import, requests: readonly Request[]) {
    const cases = requests.map((request, i) => ({
      name: String(i),
      request,
      expect: { decision: 'allow' },
    }))
    const tests = { apiVersion: 'remit.dev/v1', kind: 'Tests', name: 'tests', spec: { cases } }
    const plan = await api.ok('planPolicySet', {
      params: { id: 'imported' },
      body: { documents: [...documents, tests], allow_empty: true },
    })
    const decided = new Map(plan.tests.cases.map(({ name, got }) => [name, got.decision]))
    return requests.map((_, i) => decided.get(String(i)))
  }

  test('writes a folder, and says what became of each rule', async () => {
    const folder = scratchFolder('policy')
    const file = join(folder, 'settings.json')
    writeFileSync(file, JSON.stringify({ permissions, model: 'opus' }))
    const args = ['policy', 'import', 'claude', file, join(folder, 'rules')]
    const { code, stdout, stderr } = await runCommand(args, {})

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.replaceAll(folder, '')).toBe(`imported: deny WebFetch
imported: deny Edit
left out: deny Bash(rm:*); has a pattern of arguments
imported: deny mcp__files__read
imported: deny mcp__a__b__c
imported: deny mcp__git
left out: deny Oh no; is not the name of a tool
imported: ask Bash
imported: ask mcp__db__*
left out: ask mcp__db__drop_*; has a pattern of tools
left out: allow Read; an allow of Claude Code is for one machine
left out: defaultMode; a setting of Claude Code, not a rule
7 documents in 2 files of /rules
`)
    expect(
      await runCommand(['policy', 'validate', join(folder, 'rules')], { REMIT_EVALUATION: '1' }),
    ).toMatchObject({ code: 0, stderr: '' })
    expect(await runCommand(args, {})).toMatchObject({ code: 2 })
    expect(await runCommand([...args, '--replace'], {})).toMatchObject({ code: 0 })
  })

  test.each([
    ['claude', '{"permissions": {"deny": "Bash"}}', 'permissions.deny'],
    ['claude', '{"permissions": {}, "permissions": {}}', 'is not JSON'],
    ['cedar', '{"staticPolicies": {"a": {"effect": "perhaps"}}}', 'staticPolicies.a.effect'],
    ['cedar', '{"policies": {}}', 'policies'],
    ['rego', '{}', 'must be claude or cedar'],
  ])('refuses a file for %s that is something else: %s', async (format, text, message) => {
    const file = join(scratchFolder('policy'), 'source.json')
    writeFileSync(file, text)
    const ended = await runCommand(['policy', 'import', format, file, 'rules'], {})
    expect(ended.code).not.toBe(0)
    expect(ended.stderr).toContain(message)
  })

  test('denies and asks what Claude Code denied and asked', async () => {
    const call = (upstream: string, tool: string) => ({
      agent_id: 'claude-code',
      action: 'tools/call',
      resource: `tool:${tool}`,
      context: { upstream, tool },
    })
    const use = (tool: string) => ({ agent_id: 'claude-code', action: `claude.${tool}` })
    const expected: readonly [Request, string][] = [
      [use('WebFetch'), 'deny'],
      [use('Edit'), 'deny'],
      [use('Write'), 'deny'],
      [use('NotebookEdit'), 'deny'],
      [use('Bash'), 'needs_approval'],
      [use('Read'), 'allow'],
      [call('files', 'read'), 'deny'],
      [call('files', 'write'), 'allow'],
      [call('a', 'b__c'), 'deny'],
      [call('a__b', 'c'), 'deny'],
      [call('a__b__c', 'x'), 'deny'],
      [call('a', 'c'), 'allow'],
      [call('git', 'push'), 'deny'],
      [call('db', 'query'), 'needs_approval'],
    ]
    const decided = await decide(
      importClaude({ permissions }),
      expected.map(([request]) => request),
    )
    expect(expected.map(([request], i) => [request, decided[i]])).toEqual(expected)
  })

  test('denies every action for what may be a group of actions', () => {
    const all = { op: 'All' }
    const action = { op: 'in', entities: [entity('Action', 'pay')] }
    const source = { effect: 'forbid', principal: all, action, resource: all }
    const read = (flatActions: boolean) => {
      const { documents, report } = importCedar(source, { flatActions })
      return [documents[1]?.spec, report[0]?.outcome]
    }
    expect(read(false)).toEqual([{ effect: 'deny' }, 'stricter'])
    expect(read(true)).toEqual([{ effect: 'deny', actions: ['pay'] }, 'imported'])
  })

  test('allows nothing that Cedar denied', { timeout: 300_000 }, async () => {
    const seen = { allowed: 0, 'allowed by both': 0, denied: 0 }
    const property = fc.asyncProperty(
      fc.array(policy, { minLength: 1, maxLength: 3 }),
      fc.array(request, { minLength: 30, maxLength: 30 }),
      fc.boolean(),
      async (policies, requests, flatActions) => {
        const staticPolicies = Object.fromEntries(policies.map((one, i) => [`p${i}`, one]))
        const parsed = preparsePolicySet('imported', { staticPolicies } as never)
        if (parsed.type === 'failure') throw new Error(JSON.stringify(parsed.errors))
        const source = JSON.parse(JSON.stringify({ staticPolicies })) as unknown
        // Without the flag, the actions are in a group.
        const decided = await decide(importCedar(source, { flatActions }), requests)
        const wider = requests.filter((one, i) => {
          const isAllowed = askCedar(one, !flatActions) === 'allow'
          const isOurs = decided[i] === 'allow'
          seen[isAllowed ? 'allowed' : 'denied']++
          if (isAllowed && isOurs) seen['allowed by both']++
          return isOurs && !isAllowed
        })
        expect(wider).toEqual([])
      },
    )
    await fc.assert(property, { numRuns: runs(400, 40) })
    // It allows something, or it would prove nothing.
    expect(seen['allowed by both']).toBeGreaterThan(seen.allowed / 4)
    expect(seen.denied).toBeGreaterThan(seen.allowed / 4)
  })
})

const AGENTS = ['a', 'b']
const ACTIONS = ['pay.send', 'pay.read', 'mail.send']
const RESOURCES = ['Account:1', 'Account:2', 'Box:1']

const entity = (type: string, id: string) => ({ type, id })
const resourceOf = (text: string) => {
  const [type = '', id = ''] = text.split(':')
  return entity(type, id)
}
const constraint = fc.record({
  principal: fc.oneof(
    { weight: 9, arbitrary: fc.constant({ op: 'All' }) },
    fc.constantFrom(...AGENTS).map((id) => ({ op: '==', entity: entity('Agent', id) })),
    fc.constant({ op: 'is', entity_type: 'Agent' }),
    fc.constant({ op: 'in', entity: entity('Agent', 'staff') }),
  ),
  action: fc.oneof(
    { weight: 6, arbitrary: fc.constant({ op: 'All' }) },
    fc.constantFrom(...ACTIONS).map((id) => ({ op: '==', entity: entity('Action', id) })),
    fc
      .subarray([...ACTIONS, 'pay'], { minLength: 1 })
      .map((ids) => ({ op: 'in', entities: ids.map((id) => entity('Action', id)) })),
  ),
  resource: fc.oneof(
    { weight: 9, arbitrary: fc.constant({ op: 'All' }) },
    fc.constantFrom(...RESOURCES).map((text) => ({ op: '==', entity: resourceOf(text) })),
    fc.constantFrom('Account', 'Box').map((type) => ({ op: 'is', entity_type: type })),
    fc.constant({ op: 'in', entity: entity('Box', '1') }),
  ),
})

const NAMES = ['amount', 'count', 'currency', 'flag', 'list']
const member = fc
  .constantFrom(...NAMES)
  .map((attr) => ({ '.': { left: { Var: 'context' }, attr } }))
const value = fc.constantFrom(0, 10, 11, 'USD', 'acme', true, false).map((Value) => ({ Value }))
const { body } = fc.letrec<{ body: object }>((tie) => ({
  body: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(
      fc
        .tuple(
          fc.constantFrom('==', '!=', '<', '<=', '>', '>='),
          fc.oneof({ weight: 6, arbitrary: member }, value),
          fc.oneof({ weight: 6, arbitrary: value }, member),
        )
        .map(([operator, left, right]) => ({ [operator]: { left, right } })),
      fc.constantFrom(...NAMES).map((attr) => ({ has: { left: { Var: 'context' }, attr } })),
      fc
        .tuple(fc.array(value, { minLength: 1, maxLength: 3 }), member)
        .map(([Set, right]) => ({ contains: { left: { Set }, right } })),
      member,
    ),
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom('&&', '||'), tie('body'), tie('body'))
        .map(([operator, left, right]) => ({ [operator]: { left, right } })),
    },
    tie('body').map((arg) => ({ '!': { arg } })),
  ),
}))
// Rules that an import leaves out.
const unknown = { '==': { left: { Var: 'principal' }, right: { Var: 'resource' } } }
const condition = fc.record({
  kind: fc.constantFrom('when', 'unless'),
  body: fc.oneof({ weight: 12, arbitrary: body }, fc.constant(unknown)),
})

const policy = fc
  .tuple(
    fc.constantFrom('permit', 'permit', 'forbid'),
    constraint,
    fc.array(condition, { maxLength: 2 }),
  )
  .map(([effect, scope, conditions]) => ({ effect, ...scope, conditions }))

const request = fc.record({
  agent_id: fc.constantFrom(...AGENTS),
  action: fc.constantFrom(...ACTIONS),
  resource: fc.constantFrom(...RESOURCES),
  context: fc.record(
    {
      amount: fc.constantFrom(0, 10, 11, 12, 'USD'),
      count: fc.constantFrom(0, 10, 11),
      currency: fc.constantFrom('USD', 'EUR', 'acme', 11),
      flag: fc.constantFrom(true, false, 'USD'),
      list: fc.constantFrom([10, 11], [11, 10], ['USD']),
    },
    { requiredKeys: [] },
  ),
})

function askCedar(
  { agent_id: id, action, resource = '', context = {} }: Request,
  hasGroups: boolean,
) {
  const inGroup = [
    { uid: entity('Agent', 'a'), attrs: {}, parents: [entity('Agent', 'staff')] },
    ...ACTIONS.map((name) => ({
      uid: entity('Action', name),
      attrs: {},
      parents: name.startsWith('pay.') && hasGroups ? [entity('Action', 'pay')] : [],
    })),
  ]
  const answer = statefulIsAuthorized({
    principal: entity('Agent', id),
    action: entity('Action', action),
    resource: resourceOf(resource),
    context: context as never,
    preparsedPolicySetId: 'imported',
    entities: inGroup,
  })
  if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors))
  return answer.response.decision
}
