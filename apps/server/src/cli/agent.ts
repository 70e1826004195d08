import { AgentId } from '@remit/contract'
import type { SpendComparison } from '@remit/core/module'
import type { Command } from 'commander'
import { orgOption, subcommand, readEmail, readOptionalReason } from './option-values.ts'
import { CliError, EXIT } from './errors.ts'
import { portOf } from './session.ts'
import type { CommandRun } from './session.ts'

interface ResumeOptions {
  readonly org?: string
  readonly person?: string
}

interface SuspendOptions extends ResumeOptions {
  readonly reason?: string | null
}

const PERSON = ['--person <e-mail>', 'Person who ordered it, for the ledger'] as const
const NO_SWITCH = 'Agents cannot be suspended in this edition.'

export function agentCommands(program: Command, session: CommandRun): void {
  const agent = program.command('agent').description('Suspend and resume single agents')

  subcommand(agent, 'suspend <agent>', 'Deny every request of an agent from now on')
    .addOption(orgOption())
    .option('--reason <text>', 'Reason, for the ledger and for denials')
    .option(...PERSON)
    .action((text: string, { org, reason: given = null, person }: SuspendOptions) =>
      session.changing(org, async (booted, { id: org_id }) => {
        const agent_id = readAgent(text)
        const reason = readOptionalReason(given)
        const by = readPerson(person)
        await portOf(booted, 'agentSwitch', NO_SWITCH).suspend(org_id, agent_id, reason, by)
        session.print(
          { org_id, agent_id, status: 'suspended', reason },
          `${agent_id} is suspended.\n`,
        )
      }),
    )

  subcommand(agent, 'resume <agent>', 'Reactivate a suspended agent')
    .addOption(orgOption())
    .option(...PERSON)
    .action((text: string, { org, person }: ResumeOptions) =>
      session.changing(org, async (booted, { id: org_id }) => {
        const agent_id = readAgent(text)
        const by = readPerson(person)
        await portOf(booted, 'agentSwitch', NO_SWITCH).resume(org_id, agent_id, by)
        session.print({ org_id, agent_id, status: 'active' }, `${agent_id} is active.\n`)
      }),
    )
}

const readPerson = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : readEmail(text)

function readAgent(text: string): string {
  const { error, data } = AgentId.safeParse(text)
  if (error) throw new CliError(`The agent's id ${error.issues[0]?.message ?? 'is not valid'}`)
  return data
}

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
        if (!yes && found.differences.length > 0) session.exitCode = EXIT.failed
      }),
    )
}

function shown(
  { entries, erased, pruned, complete, differences }: SpendComparison,
  isRebuilt: boolean,
): string {
  const lines = differences.map(
    ({ agent_id, window, stored, ledger }) =>
      `${agent_id} ${window}: stored ${stored.spent_usd} spent, ${stored.held_usd} held; ledger ${ledger.spent_usd} spent, ${ledger.held_usd} held`,
  )
  if (!complete)
    lines.push(`The ledger is not complete: ${pruned ? 'pruned' : 'not pruned'}, ${erased} erased`)
  const sum = `${differences.length} differences after ${entries} entries`
  lines.push(isRebuilt ? `${sum}; totals and holds are now those of the ledger` : sum)
  return `${lines.join('\n')}\n`
}
