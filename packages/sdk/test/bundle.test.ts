import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import type { Rolldown } from 'vite'
import { describe, expect, it } from 'vitest'

const MAX_BYTES = 17 * 1024

describe('client and gate in one bundle', () => {
  it('are at most 17 KiB with gzip, without zod and without Node', async () => {
    const built = (await build({
      configFile: false,
      logLevel: 'silent',
      resolve: { conditions: ['@remit/source', 'browser', 'import'] },
      build: {
        write: false,
        minify: true,
        target: 'es2024',
        lib: { entry: resolve(import.meta.dirname, '../src/index.ts'), formats: ['es'] },
      },
    })) as Rolldown.RolldownOutput[]
    const chunks = built.flatMap(({ output }) => output).filter((part) => part.type === 'chunk')
    const modules = chunks.flatMap(({ moduleIds }) => moduleIds)

    expect(chunks).toHaveLength(1)
    expect(chunks[0]?.imports).toEqual([])
    expect(modules.filter((id) => /zod|node:|\/contract\/src\/contract\.ts/.test(id))).toEqual([])
    expect(gzipSync(chunks[0]?.code ?? '').length).toBeLessThanOrEqual(MAX_BYTES)
  })
})
