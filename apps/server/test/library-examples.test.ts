import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { inFullRun } from '@remit/testing/pure'
import { expect, it } from 'vitest'

const folder = resolve(import.meta.dirname, '../../../examples/library')
const run = promisify(execFile)

const isRun = inFullRun('running the examples of the libraries')

async function example(name: string, ...args: string[]): Promise<string> {
  const file = join(folder, name)
  expect((await readFile(file, 'utf8')).trimEnd().split('\n').length).toBeLessThan(20)
  const { stdout } = await run(process.execPath, ['--conditions=@remit/source', file, ...args])
  return stdout
}

it.skipIf(!isRun)(
  'examples/library/check-text.ts blocks an injection and redacts a key',
  async () => {
    const attack = await example('check-text.ts')
    const secret = await example('check-text.ts', 'The key is AKIAQ3EGRTSKHWJ5XZ7M.')

    expect(attack).toMatch(/^block \(score 1\.00\)\ninstruction_override: Ignore/)
    expect(secret).toMatch(/^redact .*\nsecret: AKIAQ3EGRTSKHWJ5XZ7M\nredacted: /)
  },
)

it.skipIf(!isRun)('examples/library/score-list.ts scores each result', async () => {
  expect(await example('score-list.ts')).toMatch(
    /^capital: 1 .*\nriver: 0\.\d+ .*\npass rate: 0\.5\n$/,
  )
})

it.skipIf(!isRun)('examples/library/keep-ledger.ts appends to the same ledger again', async () => {
  const into = await mkdtemp(join(tmpdir(), 'remit-'))
  try {
    expect(await example('keep-ledger.ts', into)).toMatch(/^entry 3 .*\nok: 4 entries\n$/)
    expect(await example('keep-ledger.ts', into)).toMatch(/^entry 4 .*\nok: 5 entries\n$/)
  } finally {
    await rm(into, { recursive: true })
  }
})
