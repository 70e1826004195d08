import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/**
 * Files that take half a minute or more in a full run. Vitest knows how long a file takes only
 * after a first run, and one worker alone at the end makes the others wait.
 */
const LONGEST = [
  'examples/test/python-hosts.test.ts',
  'examples/test/packed.test.ts',
  'apps/server/test/packaging.test.ts',
  'examples/test/faults.test.ts',
  'packages/core/test/ledger/mutation-sweep.test.ts',
  'apps/server/test/crash.test.ts',
  'apps/console/test/pages.test.ts',
  'apps/server/test/identity/processes.test.ts',
  'test/policies-no-stale-allow.test.ts',
  'apps/server/test/upgrade.test.ts',
  'apps/server/test/fuzz.test.ts',
  'apps/server/test/compliance/replay.property.test.ts',
  'apps/server/test/compliance/cli.test.ts',
]

/** Vitest's order, with the longest files at the beginning. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`))
      return place === -1 ? LONGEST.length : place
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}
