import { AgentId } from '@remit/contract'
import type { AgentSwitch } from '@remit/core'
import type { Command } from 'commander'
import type { Booted } from '../boot/boot.ts'
import { orgOption, subcommand } from './command.ts'
import { CliError } from './errors.ts'
import { organizationOf } from './session.ts'
import type { Session } from './session.ts'
import { readEmail, readReason } from './words.ts'

interface ResumeOptions {
  readonly org?: string
  readonly person?: string
}

interface SuspendOptions extends ResumeOptions {
  readonly reason?: string | null
}

const PERSON = ['--person <e-mail>', 'By whose word, for the ledger'] as const

export function agentCommands(program: Command, session: Session): void {
  const agent = program.command('agent').description('The emergency stop of single agents')

  subcommand(agent, 'suspend <agent>', 'Deny everything to an agent from its next request on')
    .addOption(orgOption())
    .option('--reason <text>', 'Why, for the ledger and for refusals')
    .option(...PERSON)
    .action((text: string, { org, reason = null, person }: SuspendOptions) =>
      session.product(async (booted) => {
        const agent_id = readAgent(text)
        if (reason !== null) readReason(reason)
        const by = readPerson(person)
        const { id: org_id } = await organizationOf(booted.db, org)
        await agentSwitch(booted).suspend(org_id, agent_id, reason, by)
        session.print(
          { org_id, agent_id, status: 'suspended', reason },
          `${agent_id} is suspended.\n`,
        )
      }),
    )

  subcommand(agent, 'resume <agent>', 'Let a suspended agent act again')
    .addOption(orgOption())
    .option(...PERSON)
    .action((text: string, { org, person }: ResumeOptions) =>
      session.product(async (booted) => {
        const agent_id = readAgent(text)
        const by = readPerson(person)
        const { id: org_id } = await organizationOf(booted.db, org)
        await agentSwitch(booted).resume(org_id, agent_id, by)
        session.print({ org_id, agent_id, status: 'active' }, `${agent_id} may act again.\n`)
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

function agentSwitch({ remit, entitlement }: Booted): AgentSwitch {
  const { agentSwitch: offered } = remit.ports
  if (!offered) throw new CliError(`Nothing decides about agents here. ${entitlement.notice}`)
  return offered
}
