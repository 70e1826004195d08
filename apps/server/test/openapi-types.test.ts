import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import openapiTS, { astToString } from 'openapi-typescript'
import type { OpenAPI3 } from 'openapi-typescript'
import { inFullRun } from '@remit/testing/pure'
import { beforeAll, describe, expect, it } from 'vitest'

const isRun = inFullRun('openapi-typescript')

const root = resolve(import.meta.dirname, '../../..')

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Readonly<Record<string, { example?: unknown }>> }
}

/** Properties that have a default and are required all the same, as they stand in generated types. */
function requiredWithDefault(types: string): string[] {
  const commented = types.matchAll(/\/\*\*(?:(?!\*\/)[^])*@default(?:(?!\*\/)[^])*\*\/\s*(.*)/g)
  return [...commented].map(([, property]) => property!).filter((line) => !/^"?\w+"?\?:/.test(line))
}

describe.skipIf(!isRun)('types that openapi-typescript makes of openapi.json', () => {
  let document: Document
  let types: string
  beforeAll(async () => {
    document = JSON.parse(await readFile(join(root, 'openapi.json'), 'utf8')) as Document
    types = astToString(await openapiTS(document as unknown as OpenAPI3))
  })

  it('require no property of a request that has a default', () => {
    expect(types.match(/@default/g)?.length).toBeGreaterThan(50)
    expect(requiredWithDefault(types)).toEqual([])
  })

  it('see a property that is required although it has a default', () => {
    const made = '/**\n * Text\n * @default 1\n */\n a: number;\n/** @default 2 */\n b?: number;'

    expect(requiredWithDefault(made)).toEqual(['a: number;'])
  })

  it('take every example', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'remit-types-'))
    const bodies = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId, requestBody }) => {
        const example = requestBody?.content['application/json']?.example
        const type = `operations['${operationId}']['requestBody']['content']['application/json']`
        return example ? [`export const ${operationId}: ${type} = ${JSON.stringify(example)}`] : []
      })
    await writeFile(join(folder, 'types.ts'), types)
    await writeFile(
      join(folder, 'examples.ts'),
      ["import type { operations } from './types'", ...bodies].join('\n'),
    )
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const options = ['--noEmit', '--strict', '--module', 'preserve', '--ignoreConfig']

    await expect(
      promisify(execFile)(process.execPath, [tsc, ...options, join(folder, 'examples.ts')], {
        cwd: folder,
      }).catch((error: { stdout: string }) => error.stdout),
    ).resolves.toMatchObject({ stdout: '' })
    expect(bodies).toHaveLength(types.match(/requestBody: {/g)?.length ?? 0)
    await rm(folder, { recursive: true })
  })
})
