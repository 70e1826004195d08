import { registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundledProgram } from '@remit/testing/pure'
import { withBundledThreads } from './threads.ts'

// Loaded before the modules under test, which start their threads from the bundle of the run.

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.startsWith('file:') || !url.endsWith('.ts') || loaded.source == null) return loaded
    const code = Buffer.from(loaded.source as Uint8Array | string).toString()
    if (!code.includes('siblingModule(')) return loaded
    const folder = JSON.stringify(new URL('./', pathToFileURL(bundledProgram('main'))))
    return { ...loaded, source: withBundledThreads(code, fileURLToPath(url), folder) }
  },
})
