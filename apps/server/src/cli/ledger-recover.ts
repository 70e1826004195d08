import { recoverLedger } from '@remit/core/orgs'
import type { Command } from 'commander'
import { orgOption, subcommand } from './command.ts'
import { readCheckpointFile } from './checkpoint-file.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { readReason } from './option-values.ts'

interface RecoverOptions {
  readonly org?: string
  readonly checkpoint: string
  readonly reason: string
  readonly vkey?: string
}

export function recoverCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'recover', 'Record that a restore from a backup lost entries')
    .addOption(orgOption())
    .requiredOption('--checkpoint <file>', 'File with the newest external checkpoint')
    .requiredOption('--reason <text>', 'Description of the incident, for the ledger')
    .option('--vkey <vkey>', 'Verifier key of the checkpoint, if it differs from the ledger’s')
    .action(({ org, checkpoint: file, reason, vkey }: RecoverOptions) =>
      session.product(async ({ db, remit }) => {
        readReason(reason)
        const { id } = await organizationOf(db, org)
        const recovery = await recoverLedger(remit.writer, id, {
          checkpoint: readCheckpointFile(file).note,
          reason,
          ...(vkey !== undefined && { vkey }),
        })
        const { seq, lost } = recovery
        session.print(
          { org_id: id, ...recovery },
          `Recorded as entry ${seq}: the signed entries ${lost.from_seq} to ${lost.to_seq} are lost.\n`,
        )
      }),
    )
}
