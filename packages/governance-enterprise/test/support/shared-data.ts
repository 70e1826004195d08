import { existsSync, readFileSync } from 'node:fs'
import { describe } from 'vitest'

const root = new URL('../../../../../shared/data/', import.meta.url)

/**
 * `describe` for tests that read the public vectors kept beside the repository. Without them the
 * tests are skipped, and the run says so.
 */
export function describeWithData(area: string): typeof describe | typeof describe.skip {
  const found = existsSync(new URL(`${area}/`, root))
  if (!found) process.stderr.write(`skipped: ../shared/data/${area} is not there\n`)
  return found ? describe : describe.skip
}

/** One JSON file of the public vectors; the caller states its shape. */
export const readDataJson = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(path, root), 'utf8'))
