import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { PolicyDocument, PolicySetPlan } from '@remit/contract'
import schema from '@remit/contract/policy-set.schema.json' with { type: 'json' }
import { Ajv2020 } from 'ajv/dist/2020.js'
import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { readFolder } from '../src/cli/policy-files.ts'
import { weakened } from './support/weakened.ts'
import { createRemoteCommands, runCommand } from './support/remote-commands.ts'
import type { RemoteCommands } from './support/remote-commands.ts'

const ROOT = resolve(import.meta.dirname, '../../../examples/policies')
const PACKS = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((name) => statSync(join(ROOT, name)).isDirectory())
  .filter((name) => readdirSync(join(ROOT, name)).includes('tests.yaml'))

const isWhole = inFullRun('the weakening of each rule of the policy packs')

const documentsOf = (pack: string): PolicyDocument[] =>
  readFolder(join(ROOT, pack)).map(({ value }) => value as PolicyDocument)

const failures = ({ tests }: PolicySetPlan) =>
  tests.cases.filter(({ passed }) => !passed).map(({ name, got }) => ({ name, got }))

test('there are packs', () => {
  expect(PACKS).toEqual(expect.arrayContaining(['payments', 'deny-by-default', 'break-glass/open']))
})

test('the JSON Schema for editors accepts their documents, and no others', () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
  const documents = PACKS.flatMap(documentsOf)
  for (const one of documents) expect([one.name, validate(one)]).toEqual([one.name, true])
  const [first] = documents
  for (const wrong of [{ kind: 'Police' }, { spec: { efect: 'deny' } }, { more: 1 }])
    expect(validate({ ...first, ...wrong })).toBe(false)
})

describe.skipIf(!hasModules()).each(PACKS)('the pack %s', (pack) => {
  let commands: RemoteCommands
  beforeAll(async () => {
    commands = await createRemoteCommands()
  })
  afterAll(() => commands.close())

  const plan = (documents: readonly PolicyDocument[]) =>
    commands.api.ok('planPolicySet', {
      params: { id: 'pack' },
      body: { documents, allow_empty: true },
    })

  test('passes its tests without a server', async () => {
    const { code, stderr, stdout } = await runCommand(
      ['policy', 'test', join(ROOT, pack), '--json'],
      { REMIT_EVALUATION: '1' },
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ tests: { failed: 0, unmatched: [] } })
    const { properties } = JSON.parse(stdout) as PolicySetPlan
    expect(properties.map(({ result }) => result)).not.toContain('violated')
    // Texts name the documents.
    expect(JSON.stringify(properties)).not.toContain('overlay.')
  })

  test('passes them whatever the default of the organization', async () => {
    for (const default_effect of ['deny', 'allow']) {
      await commands.api.ok('changeOrganization', { body: { settings: { default_effect } } })
      expect({ default_effect, failed: failures(await plan(documentsOf(pack))) }).toEqual({
        default_effect,
        failed: [],
      })
    }
  })

  test.skipIf(!isWhole)('has no rule whose weakening its tests do not notice', async () => {
    const kept: string[] = []
    // The search for properties is another test.
    const rules = documentsOf(pack).filter(({ kind }) => kind !== 'Property')
    for (const { what, documents } of weakened(rules)) {
      const response = await commands.api.call('planPolicySet', {
        params: { id: 'pack' },
        body: { documents },
      })
      // Refused: a permission without its parent.
      const { tests } = (await response.json()) as Partial<PolicySetPlan>
      if (tests?.failed === 0) kept.push(what)
    }
    expect(kept).toEqual([])
  })

  test('has no property that holds whatever the rules are', async () => {
    const documents = documentsOf(pack)
    const properties = documents.filter(({ kind }) => kind === 'Property')
    expect(properties.length).toBeGreaterThan(0)
    await commands.api.ok('changeOrganization', { body: { settings: { default_effect: 'allow' } } })
    const { properties: results } = await plan(properties)
    expect(results.map(({ name, result }) => `${name} ${result}`)).toEqual(
      properties.map(({ name }) => `${name} violated`),
    )
  })

  test('is applied, and then there is nothing to change', async () => {
    const policy = (command: string, ...options: string[]) =>
      commands.run(['policy', command, join(ROOT, pack), '--json', ...options])
    const applied = await policy('apply')
    expect(applied).toMatchObject({ code: 0, stderr: '' })
    const { plan: made } = JSON.parse(applied.stdout) as { plan: PolicySetPlan }
    expect(made.changes.flatMap(({ warnings }) => warnings)).toEqual([])
    expect(await policy('plan', '--exit-code')).toMatchObject({ code: 0 })
  })
})
