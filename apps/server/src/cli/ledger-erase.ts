import { eraseEntries } from '@remit/core/orgs'
import type { Erasure } from '@remit/core/orgs'
import type { Command } from 'commander'
import { orgOption, subcommand } from './command.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { readCount, readEmail, readReason } from './option-values.ts'

interface EraseOptions {
  readonly org?: string
  readonly seq: readonly string[]
  readonly reason: string
  readonly person?: string
}

export function eraseCommand(ledger: Command, session: CommandRun): void {
  subcommand(
    ledger,
    'erase',
    'Erase the payloads of entries permanently; the entries themselves remain',
  )
    .addOption(orgOption())
    .requiredOption('--seq <seq...>', 'Sequence numbers of the entries')
    .requiredOption('--reason <text>', 'Reason, for the ledger')
    .option('--person <e-mail>', 'Person who ordered it, for the ledger')
    .action(({ org, seq, reason, person }: EraseOptions) =>
      session.product(async ({ db, remit }) => {
        const { id } = await organizationOf(db, org)
        const erasure = await eraseEntries({ ...remit, db }, id, {
          seqs: seq.map((text) => readCount('--seq', text)),
          reason: readReason(reason),
          person: person === undefined ? undefined : readEmail(person),
        })
        if (!erasure.log_emptied) session.warn(FULL_LOG)
        session.print({ org_id: id, ...erasure }, described(erasure))
      }),
    )
}

/** Also used after a pruning. */
export const FULL_LOG =
  'another process keeps reading the database, so the write-ahead log still contains the erased data: restart the server to truncate it'

const described = ({ seq, seqs }: Erasure): string =>
  `Erased: ${seqs.join(', ')}. Recorded as entry ${seq}. Backups contain the data until they expire.\n`
