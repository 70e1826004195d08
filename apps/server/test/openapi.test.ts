import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { endpoints } from '@remit/contract'
import { createTestRemit, inFullRun, SOURCE_FLAGS } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'

const root = resolve(import.meta.dirname, '../../..')
const golden = join(root, 'openapi.json')

interface Document {
  readonly openapi: string
  readonly paths: Record<string, Record<string, { readonly operationId: string }>>
}

const operationsOf = ({ paths }: Document): string[] =>
  Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )

/** The names of those endpoints of the contract that `keep` chooses. */
const named = (keep: (name: string) => boolean) => new Set(Object.keys(endpoints).filter(keep))

async function expectValid(document: unknown): Promise<void> {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(document as Record<string, unknown>)
  expect(errors).toBeUndefined()
  expect(valid).toBe(true)
  expect(validator.version).toBe('3.1')
}

describe('openapi.json', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'remit-openapi-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  const pnpmOpenApi = (...args: string[]) =>
    promisify(execFile)(process.execPath, [
      ...SOURCE_FLAGS,
      join(root, 'scripts/openapi.ts'),
      ...args,
    ])

  it('is what the contract says: `pnpm openapi` writes it', async () => {
    await expect(pnpmOpenApi('--check')).resolves.toMatchObject({ stderr: '' })
    const written = join(folder, 'written.json')
    await pnpmOpenApi(written)

    expect(await readFile(written, 'utf8')).toBe(await readFile(golden, 'utf8'))
  })

  it.skipIf(!inFullRun('the refusals of pnpm openapi')).each([
    [
      'differs in one character',
      async (file: string) =>
        writeFile(file, (await readFile(golden, 'utf8')).replace('Remit', 'Remot')),
    ],
    ['is not there', () => Promise.resolve()],
  ])('fails the check when it %s', async (name, prepare) => {
    const file = join(folder, `${name.replaceAll(' ', '-')}.json`)
    await prepare(file)

    await expect(pnpmOpenApi('--check', file)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('run `pnpm openapi` to rewrite it'),
    })
  })

  it('is a valid OpenAPI 3.1 document', async () => {
    await expectValid(JSON.parse(await readFile(golden, 'utf8')))
  })
})

const editions = [
  ['community', true, (name: string) => endpoints[name]?.plan === 'open'],
  ['enterprise', hasModules(), () => true],
] as const

describe.each(editions)('/openapi.json of the %s edition', (edition, isInstalled, belongs) => {
  let remit: TestRemit
  let key: string
  beforeAll(async () => {
    remit = await createTestRemit(edition === 'enterprise' ? { modules: await loadModules() } : {})
    ;({ key } = await remit.organization())
  })
  afterAll(() => remit.close())

  const served = async () => (await (await remit.call('GET', '/openapi.json')).json()) as Document

  it.skipIf(!isInstalled)('lists exactly the endpoints of the edition, each once', async () => {
    const operations = operationsOf(await served())

    expect(new Set(operations)).toEqual(named(belongs))
    expect(operations).toHaveLength(named(belongs).size)
  })

  it.skipIf(!isInstalled)('lists what is mounted and nothing else', async () => {
    const listed = new Set(operationsOf(await served()))

    for (const [name, { method, path }] of Object.entries(endpoints)) {
      const response = await remit.call(method, path.replace(/\{\w+\}/g, '0'), { key })
      const isProblem = response.headers.get('content-type') === 'application/problem+json'
      const { code } = (isProblem ? await response.json() : {}) as { code?: string }
      // A stream of events does not end by itself.
      if (!isProblem) await response.body?.cancel()
      expect(`${name} ${code === 'not_found'}`).toBe(`${name} ${!listed.has(name)}`)
    }
  })

  it.skipIf(!isInstalled)('is a valid OpenAPI 3.1 document', async () => {
    await expectValid(await served())
  })
})
