import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '@remit/testing/pure'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildConsole, isStale } from '../src/boot/console-build.ts'

describe('the build of the console at a start', () => {
  let folder: string
  let said: string[]
  beforeEach(() => {
    folder = join(scratchFolder('console-build'), 'apps/console')
    mkdirSync(join(folder, 'src/pages'), { recursive: true })
    said = []
  })
  afterEach(() => rmSync(join(folder, '../..'), { recursive: true, force: true }))

  const write = (name: string, text: string, at?: number) => {
    writeFileSync(join(folder, name), text)
    if (at !== undefined) utimesSync(join(folder, name), at, at)
  }
  const withScript = (script: string) =>
    write('package.json', JSON.stringify({ scripts: { build: script } }), 1)
  const start = () => buildConsole((line) => said.push(line), folder)

  it('runs once, and again after a change of a source in a folder', async () => {
    withScript('mkdir -p dist && touch dist/index.html')
    write('src/pages/live.tsx', '', 1)
    await start()
    await start()
    expect(said).toEqual([expect.stringContaining('building the console'), 'the console is ready'])
    expect(await isStale(folder)).toBe(false)
    write('src/pages/live.tsx', 'changed', 4_000_000_000)
    expect(await isStale(folder)).toBe(true)
  })

  it('shows the output of a failure, and does not stop the server', async () => {
    withScript('echo this is broken && exit 3')
    await start()
    expect(said[1]).toMatch(/^building the console failed:\n[^]*this is broken/)
  })

  it('does nothing where the console is not installed', async () => {
    await start()
    expect(said).toEqual([])
  })
})
