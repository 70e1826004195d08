import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { SETTING_NAMES } from '@remit/core/orgs/settings'
import { describe, expect, test } from 'vitest'
import { EXIT } from '../src/cli/errors.ts'
import { createProgram } from '../src/cli/program.ts'
import { CommandRun } from '../src/cli/session.ts'
import { commandsOf } from './support/commands.ts'
import { termsOf } from './support/markdown.ts'

const text = readFileSync(resolve(import.meta.dirname, '../../../docs/cli.md'), 'utf8')

/** Every command's section: the heading and what follows up to the next. */
const documented = new Map(
  text.split(/^##+ /m).flatMap((section) => {
    const [, usage, rest] = /^`(remit .+)`\n([^]*)$/.exec(section) ?? []
    return usage === undefined ? [] : [[usage, rest ?? ''] as const]
  }),
)

const io = {
  env: {},
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  endSignal: () => new AbortController().signal,
}
const commands = commandsOf(createProgram(new CommandRun(io, false)))

describe('docs/cli.md', () => {
  test('describes every command, in the order of the help, and none that is not there', () => {
    expect([...documented.keys()]).toEqual(commands.map(({ usage }) => usage))
  })

  test.each(commands)('lists the options of $usage, and no others', ({ usage, options }) => {
    const listed = termsOf(documented.get(usage) ?? '').filter((cell) => cell.startsWith('--'))

    expect([...listed, '--json'].toSorted()).toEqual([...options].toSorted())
  })

  test('lists every setting of organizations, and no others', () => {
    const section = documented.get('remit org set <org> <setting=value...>') ?? ''

    const named = termsOf(section).filter((cell) => !/^(?:setting|option|--.*)$/.test(cell))
    expect(named).toEqual(SETTING_NAMES)
  })

  test('explains every exit code, and no others', () => {
    const [, section = ''] = text.split('## Output and exit codes')
    const codes = termsOf(section.split('\n## ')[0] ?? '').filter((cell) => /^\d+$/.test(cell))

    expect(codes.map(Number)).toEqual(Object.values(EXIT))
  })
})
