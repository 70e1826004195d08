import type { Compliance } from '@remit/core/module'
import type { Command } from 'commander'
import type { Booted } from '../boot/boot.ts'
import { complianceReportCommand } from './compliance-report.ts'
import { complianceVerifyCommand } from './compliance-verify.ts'
import { CliError } from './errors.ts'
import type { CommandRun } from './session.ts'

export function complianceCommands(program: Command, session: CommandRun): void {
  const compliance = program.command('compliance').description('Compliance reports from the ledger')
  complianceReportCommand(compliance, session, offered)
  complianceVerifyCommand(compliance, session, offered)
}

/** Returns the compliance port; the community edition has none. */
function offered({ remit, entitlement }: Booted): Compliance {
  const { compliance } = remit.ports
  if (!compliance)
    throw new CliError(
      `Compliance reports are not available in this edition. ${entitlement.notice}`,
    )
  return compliance
}
