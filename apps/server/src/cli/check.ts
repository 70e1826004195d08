import { statSync } from 'node:fs'
import type { Command } from 'commander'
import * as checks from '../check/checks.ts'
import type { Check, CheckFacts, Finding } from '../check/checks.ts'
import { vendorKey } from '../settings/license.ts'
import { subcommand, userPath } from './options.ts'
import { CliError, EXIT, judge } from './errors.ts'
import { printableLine } from './table.ts'
import type { CommandRun } from './session.ts'

/** Every check, in the order of the output; `docs/going-to-production.md` has a section for each. */
export const CHECKS: Readonly<Record<string, Check>> = {
  license: checks.license,
  evaluation: checks.evaluation,
  default_effect: checks.defaultEffect,
  unknown_agents: checks.unknownAgents,
  agent_credentials: checks.agentCredentials,
  ledger_key: checks.ledgerKey,
  secrets_key: checks.secretsKey,
  pepper: checks.pepper,
  database: checks.databaseAccess,
  migrations: checks.migrations,
  tls: checks.tls,
  clock: checks.clock,
  server: checks.server,
  backup: checks.backup,
  checkpoints: checks.checkpoints,
  witness: checks.witness,
  retention: checks.retention,
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
      found.push({ name, ...checks.problem(message ?? 'failed', 'correct it, and check again') })
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
      const findings = await session.database((db) =>
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
        findings.filter((check) => check.status === status).length
      const [problems, warnings] = [count('problem'), count('warning')]
      session.print(
        { problems, warnings, checks: findings },
        `${findings.map(lineOf).join('')}${problems} problems, ${warnings} warnings, ${count('ok')} ok\n`,
      )
      session.exitCode = exitOf(findings, strict)
    })
}

/** Problems fail; warnings do only if they are asked to. */
export const exitOf = (found: readonly Pick<Finding, 'status'>[], isStrict = false): number =>
  found.some(({ status }) => status === 'problem' || (isStrict && status === 'warning'))
    ? EXIT.failed
    : EXIT.ok

const NAME_WIDTH = 2 + Math.max(...Object.keys(CHECKS).map((name) => name.length))

const lineOf = ({ name, status, message, todo }: Finding & { readonly name: string }): string => {
  const line = `${status.padEnd(9)}${name.padEnd(NAME_WIDTH)}${printableLine(message)}\n`
  return todo === null ? line : `${line}${' '.repeat(9 + NAME_WIDTH)}${printableLine(todo)}\n`
}
