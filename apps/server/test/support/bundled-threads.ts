import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { withBundledThreads } from './threads.ts'

// Loaded before the modules under test, which start their threads from the bundle of the run.
const folder = JSON.stringify(`file://${process.env['REMIT_TEST_PROGRAMS']}/`)

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.startsWith('file:') || !url.endsWith('.ts') || loaded.source == null) return loaded
    const code = Buffer.from(loaded.source as Uint8Array | string).toString()
    if (!code.includes('siblingModule(')) return loaded
    return { ...loaded, source: withBundledThreads(code, fileURLToPath(url), folder) }
  },
})
