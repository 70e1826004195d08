import { statSync } from 'node:fs'
import type { Command } from 'commander'
import * as settings from '../check/settings.ts'
import * as state from '../check/state.ts'
import { problem } from '../check/finding.ts'
import type { Check, CheckFacts, Finding } from '../check/finding.ts'
import { vendorKey } from '../settings/license.ts'
import { subcommand } from './command.ts'
import { CliError, EXIT, judge } from './errors.ts'
import { printableLine } from './table.ts'
import type { CommandRun } from './session.ts'
import { userPath } from './user-path.ts'

/** Every check, in the order of the output; `docs/going-to-production.md` has a section for each. */
export const CHECKS: Readonly<Record<string, Check>> = {
  license: settings.license,
  evaluation: settings.evaluation,
  default_effect: state.defaultEffect,
  unknown_agents: state.unknownAgents,
  agent_credentials: state.agentCredentials,
  ledger_key: settings.ledgerKey,
  secrets_key: settings.secretsKey,
  pepper: settings.pepper,
  database: settings.databaseAccess,
  migrations: state.migrations,
  tls: settings.tls,
  clock: state.clock,
  server: state.server,
  backup: state.backup,
  checkpoints: state.checkpoints,
  witness: state.witness,
  retention: state.retention,
}

/** Runs every check, or those with these names; one that fails is a problem. */
export async function runChecks(
  facts: CheckFacts,
  names = Object.keys(CHECKS),
): Promise<readonly (Finding & { readonly name: string })[]> {
  const found = []
  for (const name of names) {
    try {
      const finding = await CHECKS[name]?.(facts)
      if (finding) found.push({ name, ...finding })
    } catch (error) {
      const { message } = judge(error)
      found.push({ name, ...problem(message ?? 'failed', 'correct it, and check again') })
    }
  }
  return found
}

export function checkCommand(program: Command, session: CommandRun): void {
  subcommand(program, 'check', 'Check whether this installation is ready for production')
    .option('--backup <folder>', 'Folder of `remit backup`, or of several of them')
    .option('--strict', 'Exit with 1 for warnings too')
    .action(async ({ backup, strict }: { backup?: string; strict?: boolean }) => {
      const folder = backup === undefined ? undefined : userPath(backup)
      if (folder !== undefined && !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
        throw new CliError(`${backup} is not a folder`)
      const migrations = await session.migrations()
      const { config } = session
      const checks = await session.database((db) =>
        runChecks({
          config,
          db,
          migrations,
          now: Date.now,
          licenseKey: vendorKey(),
          backup: folder,
        }),
      )
      const count = (status: Finding['status']) =>
        checks.filter((check) => check.status === status).length
      const [problems, warnings] = [count('problem'), count('warning')]
      session.print(
        { problems, warnings, checks },
        `${checks.map(lineOf).join('')}${problems} problems, ${warnings} warnings, ${count('ok')} ok\n`,
      )
      session.exitCode = exitOf(checks, strict)
    })
}

/** Problems fail; warnings do only if they are asked to. */
export const exitOf = (checks: readonly Pick<Finding, 'status'>[], isStrict = false): number =>
  checks.some(({ status }) => status === 'problem' || (isStrict && status === 'warning'))
    ? EXIT.failed
    : EXIT.ok

const NAME_WIDTH = 2 + Math.max(...Object.keys(CHECKS).map((name) => name.length))

const lineOf = ({ name, status, message, todo }: Finding & { readonly name: string }): string => {
  const line = `${status.padEnd(9)}${name.padEnd(NAME_WIDTH)}${printableLine(message)}\n`
  return todo === null ? line : `${line}${' '.repeat(9 + NAME_WIDTH)}${printableLine(todo)}\n`
}
