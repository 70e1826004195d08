import { createPublicKey } from 'node:crypto'
import type { Database } from '@remit/core/db/open'
import { eachPart, inPart } from '@remit/core/db'
import type { CoreTables, OrganizationRow } from '@remit/core/db'
import { generateLedgerKey } from '@remit/core/ledger/proofs'
import { listOrganizations, rotateLedgerKey } from '@remit/core/orgs'
import type { Command } from 'commander'
import { ledgerKeyFile } from '../settings/ledger-key.ts'
import { orgOption, subcommand } from './command.ts'
import { readPrivateKey, writeSecret } from './files.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { facts } from './table.ts'
import { readEmail } from './option-values.ts'

interface RotateOptions {
  readonly org?: string
  readonly newKey: string
  readonly person?: string
}

export function ledgerKeyCommands(ledger: Command, session: CommandRun): void {
  subcommand(
    ledger,
    'keygen <file>',
    'Create an Ed25519 key that signs ledgers; an existing file is not replaced',
  ).action((file: string) => {
    const pem = generateLedgerKey()
    writeSecret(file, pem)
    const { x } = createPublicKey(pem).export({ format: 'jwk' })
    const public_key = Buffer.from(String(x), 'base64url').toString('base64')
    session.print({ file, public_key }, facts({ 'private key': file, 'public key': public_key }))
  })

  subcommand(
    ledger,
    'rotate-key',
    'Rotate the signing key of a ledger; the old key signs the change',
  )
    .addOption(orgOption())
    .requiredOption('--new-key <file>', 'New key file from `ledger keygen`')
    .option('--person <e-mail>', 'Person who ordered it, for the ledger')
    .action(({ org, newKey: file, person }: RotateOptions) =>
      session.product(async ({ db, clock, ledgerKey: oldKey, config }) => {
        const newKey = readPrivateKey(file)
        const { id } = await organizationOf(db, org)
        const by = person === undefined ? undefined : readEmail(person)
        const rotation = await rotateLedgerKey({ db, clock, oldKey, newKey, person: by }, id)
        const others = await leftBehind(db, id)
        session.print(
          { org_id: id, ...rotation, others_on_old_key: others.map((other) => other.id) },
          facts({ 'new verifier key': rotation.new_vkey, 'recorded as entry': rotation.seq }) +
            `Servers can write this ledger again after ${ledgerKeyFile(config)} contains the new key.\n` +
            (others.length > 0
              ? `A server has one key: rotate these organizations too: ${others.map(({ name }) => name).join(', ')}\n`
              : '') +
            `\n${rotation.checkpoint}`,
        )
      }),
    )
}

/** Returns the organizations whose ledgers are signed with another key than that one's. */
async function leftBehind(db: Database<CoreTables>, id: string): Promise<OrganizationRow[]> {
  const parts = await eachPart(
    db,
    (part) => db.selectFrom('ledger_head').select(['org_id', 'vkey']).where(inPart(part)).execute(),
    () => undefined,
  )
  const heads = parts.flat()
  // After the name and the key id; base64 may contain a plus too.
  const keyOf = (vkey: string) => vkey.split('+').slice(2).join('+')
  const current = heads.find((head) => head.org_id === id)
  const behind = new Set(
    heads.flatMap((head) =>
      current && keyOf(head.vkey) !== keyOf(current.vkey) ? [head.org_id] : [],
    ),
  )
  return (await listOrganizations(db)).filter((organization) => behind.has(organization.id))
}
