import { Ledger } from '@remit/core/ledger/records'
import type { Command } from 'commander'
import { orgOption, subcommand } from './command.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'

export function checkpointCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'checkpoint', 'Print the newest signed checkpoint, for external storage')
    .addOption(orgOption())
    .action(({ org }: { org?: string }) =>
      session.database(async (db) => {
        const { id } = await organizationOf(db, org)
        const { origin, size, hash, vkey, note } = await new Ledger(db).head(id)
        session.print({ org_id: id, origin, size, hash, vkey, note }, note)
        // Separate from the note, which must be printed exactly.
        if (!session.json) session.io.stderr.write(`verifier key: ${vkey}\n`)
      }),
    )
}
