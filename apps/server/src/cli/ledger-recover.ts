import { recoverLedger } from '@remit/core'
import type { Command } from 'commander'
import { orgOption, subcommand } from './command.ts'
import { readCheckpointFile } from './checkpoint-file.ts'
import { organizationOf } from './session.ts'
import type { Session } from './session.ts'
import { readReason } from './words.ts'

interface RecoverOptions {
  readonly org?: string
  readonly checkpoint: string
  readonly reason: string
  readonly vkey?: string
}

export function recoverCommand(ledger: Command, session: Session): void {
  subcommand(ledger, 'recover', 'Record that the ledger came back from a backup and lost entries')
    .addOption(orgOption())
    .requiredOption('--checkpoint <file>', 'The newest checkpoint that was kept elsewhere')
    .requiredOption('--reason <text>', 'What happened, for the ledger')
    .option('--vkey <vkey>', 'Key of that checkpoint, if it is not the ledger’s own')
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
          `Recorded as entry ${seq}: the entries ${lost.from_seq} to ${lost.to_seq} were signed and are lost.\n`,
        )
      }),
    )
}
