import { BudgetInput } from '@remit/contract'
import { parseStrictJson, StrictJsonError } from '@remit/contract/json'
import type { Command } from 'commander'
import { CliError, EXIT } from './errors.ts'
import { readText } from './files.ts'
import { subcommand } from './options.ts'
import { remoteOption, remotely } from './session.ts'
import type { CommandRun, RemoteOptions } from './session.ts'
import { table } from './table.ts'

/** The budgets of a server: listed with what is left, set from files, removed. */
export function budgetCommands(program: Command, session: CommandRun): void {
  const budget = program.command('budget').description('Manage the budgets of agents')
  const command = (signature: string, description: string): Command =>
    remoteOption(subcommand(budget, signature, description))

  command('list', 'List budgets with what is used, held and left').action((remote: RemoteOptions) =>
    remotely(session, remote, async (client) => {
      const { data: budgets } = await client.listBudgets({ query: { limit: 1_000 } })
      const rows = budgets.map(
        ({ id, parent_id, unit, window, limit, per, mode, enabled, usage }) => [
          id,
          parent_id ?? '-',
          `${limit} ${unit}`,
          per === null ? window : `${window} per ${per}`,
          usage ? String(usage.used) : '-',
          usage ? String(usage.held) : '-',
          usage ? String(usage.remaining) : '-',
          enabled ? mode : 'disabled',
        ],
      )
      const header = ['ID', 'PARENT', 'LIMIT', 'WINDOW', 'USED', 'HELD', 'LEFT', 'MODE']
      session.print({ budgets }, table(header, rows))
    }),
  )

  command('set <id> <file>', 'Create or replace a budget from a file of JSON')
    .option('--reason <text>', 'Reason of the change, for the ledger')
    .action(
      (id: string, file: string, { reason, ...remote }: RemoteOptions & { reason?: string }) =>
        remotely(session, remote, async (client) => {
          const body = {
            ...readBudget(file),
            ...(reason !== undefined && { change_reason: reason }),
          }
          const answer = await client.setBudget({ params: { id }, body })
          const warnings = answer.warnings.map((warning) => `Warning: ${warning}\n`).join('')
          session.print({ budget: answer }, `${id} is set.\n${warnings}`)
        }),
    )

  command('remove <id>', 'Remove a budget and what it counted').action(
    (id: string, remote: RemoteOptions) =>
      remotely(session, remote, async (client) => {
        await client.removeBudget({ params: { id } })
        session.print({ removed: id }, `${id} is removed.\n`)
      }),
  )
}

function readBudget(file: string): BudgetInput {
  let value: unknown
  try {
    value = parseStrictJson(Buffer.from(readText(file)))
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    throw new CliError(`${file} is not JSON: ${error.reason}`, EXIT.failed)
  }
  const { data, error } = BudgetInput.safeParse(value)
  if (data) return data
  const [issue] = error.issues
  throw new CliError(`${file}: ${issue?.path.join('.')} ${issue?.message}`, EXIT.failed)
}
