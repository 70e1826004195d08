import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { bundledThreads } from './apps/server/test/support/threads.ts'
import { LongestFirst } from './packages/core/src/testing/longest-first.ts'

const rooms = [
  'packages/contract',
  'packages/sdk',
  'packages/core',
  'packages/governance-enterprise',
  'packages/identity',
  'packages/compliance',
  'apps/server',
  'apps/verify',
  'apps/mcp',
  'apps/console',
  'examples',
  'tools/guard-training',
]

/** Their tests start no program and no thread of the server. */
const apart = new Set(['packages/contract', 'packages/sdk', 'apps/verify', 'tools/guard-training'])

// Programs and threads that tests start load their modules from here, compiled.
process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/remit-test')

export default defineConfig({
  // Not `import`: Node would take it for `require` too.
  plugins: [bundledThreads],
  ssr: { resolve: { conditions: ['@remit/source', 'node'] } },
  test: {
    globalSetup: './packages/core/src/testing/postgres-server.ts',
    setupFiles: resolve('packages/core/src/testing/end-of-day.ts'),
    sequence: { sequencer: LongestFirst },
    // Modules load once per worker instead of once per file.
    isolate: false,
    // Fewer and later collections of garbage: an eighth of the time.
    execArgv: ['--min-semi-space-size=32'],
    // One more than processors: a worker often waits for a database or for a program.
    maxWorkers: Math.min(4, availableParallelism() + 1),
    // No test is about time: the limits are for a machine that does ten other things.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A commercial room may be absent: the community edition runs the same command.
    projects: rooms
      .filter((room) => existsSync(room))
      .map((room) => ({
        extends: true as const,
        test: {
          name: room.split('/')[1] ?? room,
          root: room,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          ...(!apart.has(room) && { globalSetup: resolve('apps/server/test/support/bundle.ts') }),
        },
      })),
  },
})
