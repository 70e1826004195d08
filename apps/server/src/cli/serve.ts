import { once } from 'node:events'
import type { Command } from 'commander'
import { banner } from '../boot/banner.ts'
import { readConfig } from '../settings/config.ts'
import { ENVIRONMENT } from '../settings/environment.ts'
import { createServer } from '../boot/serve.ts'
import { subcommand } from './options.ts'
import type { CommandRun } from './session.ts'

export function serveCommand(program: Command, session: CommandRun): void {
  const command = subcommand(program, 'serve', 'Run the server until SIGTERM or SIGINT')
  command.addHelpText('after', settingsHelp)
  command.action(async () => {
    const ended = session.io.endSignal()
    const { env } = session.io
    const server = await createServer(readConfig(env), { env, signal: ended }).catch(
      (error: unknown) => {
        // Stopped while it waited for migrations.
        if (ended.aborted) return null
        throw error
      },
    )
    if (!server) return
    const { url, consoleUrl: console_url, loginUrl: login_url } = server
    const { metricsUrl: metrics_url, edition, notice, openDefaults: warnings, first } = server
    session.print(
      {
        url,
        console_url,
        login_url,
        metrics_url,
        edition,
        notice,
        warnings,
        first: first && { ...first, secret: first.given ? null : first.secret },
      },
      banner(server),
    )
    session.io.serving?.()
    if (!ended.aborted) await once(ended, 'abort')
    await server.stop()
  })
}

/** A line for each setting of the server. */
function settingsHelp(): string {
  const lines = Object.entries(ENVIRONMENT.shape).map(([name, { description = '' }]) => {
    const text = description.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '')
    return `  ${name.padEnd(35)}${text}`
  })
  return `\nSettings (docs/configuration.md has their defaults):\n${lines.join('\n')}`
}
