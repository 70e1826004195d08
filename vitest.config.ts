import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const rooms = [
  'packages/contract',
  'packages/core',
  'packages/governance-enterprise',
  'packages/identity',
  'packages/compliance',
  'apps/server',
  'apps/verify',
]

export default defineConfig({
  // Not `import`: Node would take it for `require` too.
  ssr: { resolve: { conditions: ['@remit/source', 'node'] } },
  test: {
    globalSetup: './packages/core/src/testing/postgres-server.ts',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A commercial room may be absent: the community edition runs the same command.
    projects: rooms
      .filter((room) => existsSync(room))
      .map((room) => ({
        extends: true as const,
        test: {
          name: room.split('/')[1] ?? room,
          root: room,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
        },
      })),
  },
})
