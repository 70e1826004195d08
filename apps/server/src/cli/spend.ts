import type { SpendComparison } from '@remit/core/module'
import type { Command } from 'commander'
import { EXIT } from './errors.ts'
import { orgOption, subcommand } from './options.ts'
import { portOf } from './session.ts'
import type { CommandRun } from './session.ts'

export function spendCommands(program: Command, session: CommandRun): void {
  const spend = program.command('spend').description('Check the spend of agents')

  subcommand(spend, 'rebuild', 'Compare the spend totals with the ledger, and replace them')
    .addOption(orgOption())
    .option('--yes', 'Replace the totals and holds; without it, only print the differences')
    .action(({ org, yes = false }: { org?: string; yes?: boolean }) =>
      session.changing(org, async (booted, { id: org_id }) => {
        const accounts = portOf(booted, 'spendAccounts', 'This edition has no spend.')
        const found = await (yes ? accounts.rebuild(org_id) : accounts.compare(org_id))
        session.print({ org_id, rebuilt: yes, ...found }, shown(found, yes))
        if (!yes && found.differences.length + found.budgets.length > 0)
          session.exitCode = EXIT.failed
      }),
    )
}

function shown(
  { entries, erased, pruned, complete, differences, budgets }: SpendComparison,
  isRebuilt: boolean,
): string {
  const lines = differences.map(
    ({ agent_id, window, stored, ledger }) =>
      `${agent_id} ${window}: stored ${stored.spent_usd} spent, ${stored.held_usd} held; ledger ${ledger.spent_usd} spent, ${ledger.held_usd} held`,
  )
  for (const { budget, value, unit, window, stored, ledger } of budgets)
    lines.push(
      `budget ${budget}${value == null ? '' : ` ${value}`} ${window}: stored ${stored.used} ${unit} used, ${stored.held} held; ledger ${ledger.used} used, ${ledger.held} held`,
    )
  if (!complete)
    lines.push(`The ledger is not complete: ${pruned ? 'pruned' : 'not pruned'}, ${erased} erased`)
  const sum = `${differences.length + budgets.length} differences after ${entries} entries`
  lines.push(isRebuilt ? `${sum}; totals and holds are now those of the ledger` : sum)
  return `${lines.join('\n')}\n`
}
