import { AgentId } from '@remit/contract'
import type { Command } from 'commander'
import { orgOption, subcommand, readEmail, readOptionalReason } from './options.ts'
import { CliError } from './errors.ts'
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
