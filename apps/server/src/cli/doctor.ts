import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { subcommand, userPath } from './options.ts'
import { CliError } from './errors.ts'
import type { CommandRun } from './session.ts'

interface DoctorOptions {
  readonly url?: string
  readonly agent?: string
}

const SDK = '@remit/sdk'
const PROGRAM = `
const { run } = await import('${SDK}/doctor')
process.exit(await run(process.argv.slice(1), process))
`

/** The SDK of the project runs the test, because it loads the frameworks of the project. */
export function doctorCommand(program: Command, session: CommandRun): void {
  // The SDK's program was called remit, too. Its exit code makes Codex block the call.
  program
    .command('hook [arguments...]', { hidden: true })
    .allowUnknownOption()
    .action(() => {
      throw new CliError('hooks are answered by `remit-sdk hook codex`, of the package @remit/sdk')
    })
  subcommand(program, 'doctor [folder]', 'Test whether the agents of a project obey a deny')
    .option('--url <url>', 'The server; default REMIT_URL, or http://localhost:8080')
    .option('--agent <id>', 'Agent that the self-tests are recorded for')
    .action(async (given: string | undefined, { url, agent }: DoctorOptions) => {
      const folder = userPath(given ?? '.')
      if (!hasSdk(folder))
        throw new CliError(
          `${folder} has no ${SDK}; install it there, or run python -m remit doctor`,
        )
      const args = [
        'doctor',
        folder,
        ...(url === undefined ? [] : ['--url', url]),
        ...(agent === undefined ? [] : ['--agent', agent]),
        ...(session.json ? ['--json'] : []),
      ]
      const conditions = process.execArgv.filter((flag) => flag.startsWith('--conditions='))
      const child = spawn(
        process.execPath,
        [...conditions, '--input-type=module', '--eval', PROGRAM, '--', ...args],
        { cwd: folder, env: session.io.env, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      child.stdout.pipe(session.io.stdout, { end: false })
      child.stderr.pipe(session.io.stderr, { end: false })
      const [code] = (await once(child, 'close')) as [number | null]
      session.exitCode = code ?? 2
    })
}

function hasSdk(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'node_modules', SDK, 'package.json'))) return true
    if (dirname(at) === at) return false
  }
}
