import { Readable } from 'node:stream'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Ledger } from '@remit/core/ledger/records'
import type { Command } from 'commander'
import { orgOption, subcommand } from './command.ts'
import { admitFile, REPLACE, writeWhole } from './files.ts'
import { createProgress } from './progress.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { readCount } from './option-values.ts'

interface ExportOptions {
  readonly org?: string
  readonly out?: string
  readonly replace?: boolean
  readonly afterSeq?: string
}

export function exportCommand(ledger: Command, session: CommandRun): void {
  subcommand(ledger, 'export', 'Write the ledger as NDJSON, for `ledger verify --file`')
    .addOption(orgOption())
    .option('--out <file>', 'File to write atomically; default: standard output')
    .option(...REPLACE)
    .option('--after-seq <seq>', 'Start after this sequence number')
    .action(({ org, out, replace, afterSeq: after }: ExportOptions) =>
      session.database(async (db) => {
        if (out !== undefined) admitFile(out, replace)
        const { id } = await organizationOf(db, org)
        const afterSeq = after === undefined ? undefined : readCount('--after-seq', after)
        const count = { lines: 0 }
        const chunks = counted(await new Ledger(db).export(id, { afterSeq }), session, count)
        await (out === undefined ? toStream(chunks, session.io.stdout) : writeWhole(chunks, out))
        // All lines except the header and the checkpoint are entries.
        const entries = count.lines - 2
        if (out !== undefined) {
          session.print(
            { org_id: id, file: out, entries },
            `${entries} entries written to ${out}.\n`,
          )
        }
      }),
    )
}

async function* counted(
  chunks: AsyncIterable<string>,
  session: CommandRun,
  count: { lines: number },
): AsyncGenerator<string> {
  const progress = createProgress(session.io.stderr, (done) => `exported ${done} entries`)
  for await (const chunk of chunks) {
    count.lines += chunk.split('\n').length - 1
    progress.update(count.lines)
    yield chunk
  }
  progress.end()
}

const toStream = (chunks: AsyncIterable<string>, stream: Writable): Promise<void> =>
  pipeline(Readable.from(chunks), stream, { end: false })
