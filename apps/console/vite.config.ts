import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import type { Plugin } from 'vite'
import { parseAllDocuments } from 'yaml'

const OUT = join(import.meta.dirname, 'dist')
const COMPRESSED = /\.(?:js|css|svg|html)$/

/** Writes `.br` and `.gz` beside each file, so that the server never compresses anything. */
const precompress: Plugin = {
  name: 'precompress',
  apply: 'build',
  async closeBundle() {
    const files = await readdir(OUT, { recursive: true })
    await Promise.all(
      files
        .filter((file) => COMPRESSED.test(file))
        .map(async (file) => {
          const content = await readFile(join(OUT, file))
          const params = {
            [constants.BROTLI_PARAM_QUALITY]: 11,
            [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
          }
          await writeFile(join(OUT, `${file}.br`), brotliCompressSync(content, { params }))
          await writeFile(join(OUT, `${file}.gz`), gzipSync(content, { level: 9 }))
        }),
    )
  },
}

/** Policy packs are values for the console: a browser needs no reader of YAML. */
const documents: Plugin = {
  name: 'documents',
  transform(text, id) {
    if (!id.endsWith('.yaml')) return null
    const found = [parseAllDocuments(text)].flat().map((document) => document.toJS() as unknown)
    return { code: `export default ${JSON.stringify(found)}`, map: null }
  },
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), documents, precompress],
  resolve: { conditions: ['@remit/source', 'module', 'browser', 'production'] },
  build: {
    target: 'es2024',
    // An inlined script or style would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The licenses of the bundled packages, for users and for the bill of materials.
    license: { fileName: 'licenses.json' },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
})
