import type { Command } from 'commander'
import { checkpointCommand } from './ledger-checkpoint.ts'
import { eraseCommand } from './ledger-erase.ts'
import { exportCommand } from './ledger-export.ts'
import { ledgerKeyCommands } from './ledger-keys.ts'
import { pruneCommand } from './ledger-prune.ts'
import { recoverCommand } from './ledger-recover.ts'
import { verifyCommand } from './ledger-verify.ts'
import { watchCommand } from './ledger-watch.ts'
import type { CommandRun } from './session.ts'

export function ledgerCommands(program: Command, session: CommandRun): void {
  const ledger = program
    .command('ledger')
    .description('Verify, export and maintain the ledger of an organization')
  for (const add of [
    verifyCommand,
    exportCommand,
    checkpointCommand,
    watchCommand,
    ledgerKeyCommands,
    recoverCommand,
    eraseCommand,
    pruneCommand,
  ]) {
    add(ledger, session)
  }
}
