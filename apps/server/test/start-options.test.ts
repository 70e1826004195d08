import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { SOURCE_FLAGS } from '@remit/testing/pure'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../..')
const textOf = (path: string) => readFileSync(resolve(ROOT, path), 'utf8')

/** The options of V8 in a text, which may be separated as in a command or as in a list. */
const optionsIn = (text: string) => text.match(/--(min-semi-space|v8-pool)-size=\d+/g) ?? []

const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
const EXPECTED = ['--min-semi-space-size=32', '--v8-pool-size=1']

test.each([
  ['the command remit', textOf('apps/server/src/cli.ts')],
  ['the image of the Dockerfile', textOf('deploy/Dockerfile')],
  ['the image that is built without Docker', textOf('scripts/image/make-image.ts')],
  ['the unit of systemd', textOf('deploy/systemd/remit.service')],
  ['programs that tests start', SOURCE_FLAGS.join(' ')],
  ...['start', 'remit', 'bench', 'bench:compare', 'soak'].map((name) => [
    `pnpm ${name}`,
    scripts[name] ?? '',
  ]),
])('%s runs with the options of V8 that the documentation names', (_, text) => {
  expect(optionsIn(text ?? '')).toEqual(EXPECTED)
  expect(textOf('docs/configuration.md')).toContain(`\`${EXPECTED.join(' ')}\``)
})
