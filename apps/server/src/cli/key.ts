import { Role } from '@remit/contract'
import type { Database } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { findKeyOrganization, generateKey, listKeys } from '@remit/core/keys'
import { createKey, endKey, rotateKey } from '@remit/core/orgs'
import { generateOperatorKey, OPERATOR_NAME, operatorKeyLine } from '@remit/core/server'
import type { Command } from 'commander'
import { choice, orgOption, subcommand, readEmail } from './options.ts'
import { CliError, EXIT } from './errors.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { facts, table } from './table.ts'

interface CreateOptions {
  readonly org?: string
  readonly role: Role
  readonly person?: string
  readonly name?: string
}

export function keyCommands(program: Command, session: CommandRun): void {
  const key = program.command('key').description('Manage the keys of organizations')

  subcommand(key, 'create', 'Create a key; its secret is shown once')
    .addOption(orgOption())
    .addOption(choice('--role <role>', 'Role of the key', Role.options).makeOptionMandatory())
    .option('--person <e-mail>', 'Person that the key represents')
    .option('--name <name>', 'Purpose of the key')
    .action(({ org, role, person, name }: CreateOptions) =>
      session.changing(org, async ({ remit }, { id: orgId }) => {
        const described = {
          role,
          person: person === undefined ? null : readEmail(person),
          name: name === undefined ? null : readName(name),
        }
        const { id, secret } = await createKey(remit.writer, orgId, described)
        session.print({ key: { id, org_id: orgId, ...described, secret } }, shown(id, secret))
      }),
    )

  subcommand(key, 'list', 'List the keys of an organization, without their secrets')
    .addOption(orgOption())
    .action(({ org }: { org?: string }) =>
      session.database(async (db) => {
        const keys = await listKeys(db, (await organizationOf(db, org)).id)
        session.print(
          { keys },
          table(
            ['ID', 'ROLE', 'PERSON', 'NAME', 'CREATED', 'REVOKED'],
            keys.map(({ id, role, person, name, created_at, revoked_at }) => [
              id,
              role,
              person ?? '-',
              name ?? '-',
              created_at,
              revoked_at ?? '-',
            ]),
          ),
        )
      }),
    )

  subcommand(key, 'revoke <id>', 'Revoke a key').action((id: string) =>
    session.product(async ({ db, remit }) => {
      const ended = await endKey(remit.writer, await holderOf(db, id), id)
      session.print({ key: ended }, `${id} is revoked.\n`)
    }),
  )

  subcommand(
    key,
    'rotate <id>',
    'Replace a key with a new one that has the same role and person',
  ).action((id: string) =>
    session.product(async ({ db, remit }) => {
      const next = await rotateKey(remit.writer, await holderOf(db, id), id)
      session.print(
        { key: { id: next.id, secret: next.secret, rotated_from: id } },
        `${id} is revoked.\n${shown(next.id, next.secret)}`,
      )
    }),
  )

  subcommand(
    key,
    'generate',
    'Print a well-formed key for REMIT_BOOTSTRAP_KEY; nothing is stored',
  ).action(() => {
    const { id, secret } = generateKey()
    session.print({ key: { id, secret } }, `${secret}\n`)
  })

  subcommand(
    key,
    'operator <name>',
    'Print a key of an operator, and its line for REMIT_OPERATOR_KEYS_FILE; nothing is stored',
  ).action((name: string) => {
    if (!OPERATOR_NAME.test(name))
      throw new CliError('<name> must be 1 to 64 of a-z 0-9 . _ - and start with a letter or digit')
    const secret = generateOperatorKey()
    const line = operatorKeyLine(name, secret)
    session.print(
      { operator_key: { name, secret, line } },
      `${facts({ key: secret, line })}The key is shown this once.\n`,
    )
  })
}

const shown = (id: string, secret: string): string =>
  `${facts({ key: id, secret })}The secret is shown this once.\n`

async function holderOf(db: Database<CoreTables>, id: string): Promise<string> {
  const orgId = await findKeyOrganization(db, id)
  if (orgId === undefined)
    throw new CliError(`The key ${id} does not exist or is revoked`, EXIT.failed)
  return orgId
}

function readName(text: string): string {
  if (/^[^\p{C}]{1,128}$/u.test(text)) return text
  throw new CliError('--name must be 1 to 128 printable characters')
}
