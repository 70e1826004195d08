import { createSecretKey } from 'node:crypto'
import { appendFile } from 'node:fs/promises'
import { generateSecretsKey, secretsKeyId } from '@remit/core/secrets'
import type { Command } from 'commander'
import {
  parseKeyLines,
  readSecretsKeys,
  SECRETS_KEYS,
  secretsKeyFile,
} from '../settings/secrets-key.ts'
import { subcommand } from './options.ts'
import { CliError, EXIT } from './errors.ts'
import { readText, writeSecret, writing } from './files.ts'
import type { CommandRun } from './session.ts'
import { facts } from './table.ts'

export function secretsCommands(program: Command, session: CommandRun): void {
  const secrets = program.command('secrets').description('Manage the encryption of stored secrets')

  subcommand(
    secrets,
    'keygen <file>',
    'Create a key that encrypts stored secrets; an existing file is not replaced',
  )
    .option('--add', 'Append a key to an existing file')
    .action(async (file: string, { add = false }: { add?: boolean }) => {
      const key = generateSecretsKey()
      if (add) await append(file, key)
      else writeSecret(file, key)
      const key_id = secretsKeyId(createSecretKey(Buffer.from(key, 'base64')))
      session.print({ file, key_id }, facts({ file, 'key id': key_id }))
    })

  subcommand(
    secrets,
    'reseal',
    'Re-encrypt all stored secrets with the first key of REMIT_SECRETS_KEY_FILE',
  ).action(() =>
    session.product(async ({ remit, config, entitlement }) => {
      if (entitlement.modules.length === 0)
        throw new CliError(`No module can read the stored secrets. ${entitlement.notice}`)
      const { resealed, unreadable, failed } = await remit.reseal()
      const file = secretsKeyFile(config)
      const [current, ...others] = readSecretsKeys(file).map(secretsKeyId)
      const isComplete = unreadable === 0 && failed.length === 0
      if (!isComplete) session.exitCode = EXIT.failed
      const unneeded = isComplete ? others : []
      session.print(
        {
          file,
          key_id: current,
          resealed,
          unreadable,
          failed_organizations: failed,
          other_key_ids: unneeded,
        },
        facts({
          file,
          'key id': current ?? '',
          're-encrypted': resealed,
          unreadable,
          'failed organizations': failed.length,
          'no longer needed': unneeded.join(', ') || 'none',
        }),
      )
    }),
  )
}

async function append(file: string, key: string): Promise<void> {
  // A key after an invalid line would not be usable.
  parseKeyLines(
    readText(file),
    SECRETS_KEYS,
    (why) => new CliError(`${file} cannot be used: ${why}`),
  )
  await writing(file, (path) => appendFile(path, `\n${key}`))
}
