import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './packages/testing/src/longest-first.ts'

// Workers, and programs and threads that tests start, load their modules from here, compiled.
process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/remit-test')

export default defineConfig({
  ssr: { resolve: { conditions: ['@remit/source', 'node'] } },
  test: {
    // One project: a worker of one project takes no file of another, and would load everything anew.
    include: ['{packages,apps,tools}/*/{src,test}/**/*.test.ts', 'examples/test/**/*.test.ts'],
    globalSetup: [
      resolve('packages/testing/src/postgres-server.ts'),
      resolve('apps/server/test/support/bundle.ts'),
    ],
    setupFiles: resolve('packages/testing/src/patience.ts'),
    sequence: { sequencer: LongestFirst },
    // Modules load once per worker instead of once per file.
    isolate: false,
    // Node runs the sources, as it runs the server. No module is mocked.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [
      // Fewer and later collections of garbage: an eighth of the time.
      '--min-semi-space-size=32',
      `--import=${resolve('apps/server/test/support/bundled-threads.ts')}`,
    ],
    // More than processors: a worker often waits for a database or for a program.
    maxWorkers: Math.min(6, availableParallelism() + 2),
    // No test is about time: the limits are for a machine that does ten other things.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
