import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isoTime } from '@remit/core/base'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import { exportConfiguration } from '@remit/core/orgs'
import type { Command } from 'commander'
import { VERSION } from '../settings/version.ts'
import { subcommand } from './command.ts'
import { CliError } from './errors.ts'
import { fileFault } from '../settings/read-file.ts'
import { writeWhole } from './files.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { facts } from './table.ts'
import { userPath } from './user-path.ts'

const LEDGER = 'ledger.ndjson'
const CONFIGURATION = 'configuration.ndjson'
const SUMS = 'SHA256SUMS'

export function exportOrgCommand(org: Command, session: CommandRun): void {
  subcommand(org, 'export <org>', 'Write everything about an organization, without secrets')
    .requiredOption('--out <folder>', 'Folder for the files; it must not exist')
    .action((idOrName: string, { out }: { out: string }) =>
      session.product(async ({ db, remit, clock, ledgerKey }) => {
        const { id } = await organizationOf(db, idOrName)
        const folder = createFolder(out)
        const at = { now: isoTime(clock.now()), version: VERSION }
        const configuration = exportConfiguration(db, remit.archive, id, at)
        const sums = [
          await writeSummed(folder, LEDGER, await remit.ledger.export(id, {})),
          await writeSummed(folder, CONFIGURATION, configuration),
        ]
        const text = sums.map(({ file, sha256 }) => `${sha256}  ${file}\n`).join('')
        await writeWhole([text], join(folder, SUMS))
        const origin = await remit.ledger.origin(id)
        if (origin === null) throw new CliError('The organization has no ledger')
        const { vkey } = createLedgerSigner(ledgerKey).forOrigin(origin)
        session.print(
          { org_id: id, folder: out, vkey, files: sums },
          facts({
            ...Object.fromEntries(sums.map(({ file, sha256 }) => [`sha-256 of ${file}`, sha256])),
            'verifier key': vkey,
          }) +
            `The archive is in ${out}. \`remit-verify ${LEDGER} --vkey …\` verifies the ledger, and \`sha256sum -c ${SUMS}\` the files.\n`,
        )
      }),
    )
}

function createFolder(out: string): string {
  const folder = userPath(out)
  try {
    mkdirSync(folder, { mode: 0o700 })
    return folder
  } catch (error) {
    throw new CliError(
      (error as { code?: string }).code === 'EEXIST'
        ? `${out} already exists and is not replaced`
        : `${out} cannot be created: ${fileFault(error)}`,
    )
  }
}

/** Writes a file and returns its hash. */
async function writeSummed(
  folder: string,
  file: string,
  chunks: AsyncIterable<string>,
): Promise<{ file: string; sha256: string }> {
  const hash = createHash('sha256')
  await writeWhole(
    hashed(chunks, (chunk) => void hash.update(chunk)),
    join(folder, file),
  )
  return { file, sha256: hash.digest('hex') }
}

async function* hashed(
  chunks: AsyncIterable<string>,
  see: (chunk: string) => void,
): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    see(chunk)
    yield chunk
  }
}
