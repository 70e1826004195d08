import type { Command } from 'commander'
import {
  checkLicense,
  generateLicenseKeys,
  graceEndOf,
  issueLicense,
  vendorKey,
} from '../settings/license.ts'
import type { License } from '../settings/license.ts'
import { choice, subcommand } from './options.ts'
import { CliError, EXIT } from './errors.ts'
import { readPrivateKey, readPublicKey, readText, writeSecret } from './files.ts'
import type { CommandRun } from './session.ts'
import { facts } from './table.ts'

interface IssueOptions {
  readonly key: string
  readonly customer: string
  readonly plan: 'team' | 'enterprise'
  readonly expires: string
  readonly hosted?: boolean
}

interface ShowOptions {
  readonly file?: string
  readonly publicKey?: string
}

export function licenseCommands(program: Command, session: CommandRun): void {
  const license = program.command('license').description('Licenses of the enterprise edition')

  subcommand(
    license,
    'keygen <file>',
    'Create a key pair for licenses: write the private key to the file, print the public key',
  ).action((file: string) => {
    const { privateKey, publicKey } = generateLicenseKeys()
    writeSecret(file, privateKey)
    session.print({ private_key_file: file, public_key: publicKey }, publicKey)
  })

  subcommand(license, 'issue', 'Sign a license')
    .requiredOption('--key <file>', 'Private key file from `license keygen`')
    .requiredOption('--customer <name>', 'Customer of the license')
    .addOption(
      choice('--plan <plan>', 'Plan of the license', ['team', 'enterprise']).makeOptionMandatory(),
    )
    .requiredOption('--expires <time>', 'Expiry of the license, a date or an RFC 3339 time')
    .option('--hosted', 'Each organization has its own plan')
    .action(async ({ key, customer, plan, expires, hosted = false }: IssueOptions) => {
      if (customer.length < 1 || customer.length > 256)
        throw new CliError('--customer must be 1 to 256 characters')
      const issued = { customer, plan, hosted, expiresAt: readExpiry(expires) }
      const token = await issueLicense(readPrivateKey(key), issued)
      session.print({ license: wire(issued), token }, `${token}\n`)
    })

  subcommand(license, 'show', 'Check a license: REMIT_LICENSE_KEY or a file')
    .option('--file <file>', 'File with the license')
    .option('--public-key <file>', 'Public key to check it with instead of the built-in one')
    .action(async ({ file, publicKey }: ShowOptions) => {
      const token = file === undefined ? session.io.env['REMIT_LICENSE_KEY'] : readText(file).trim()
      if (!token) throw new CliError('REMIT_LICENSE_KEY is not set; use --file', EXIT.failed)
      const key = publicKey === undefined ? vendorKey() : readPublicKey(publicKey)
      const check = await checkLicense(token, key, Date.now())
      if ('refused' in check) throw new CliError(check.refused, EXIT.failed)
      const { customer, plan, hosted, expiresAt } = check.license
      session.print(
        { license: wire(check.license) },
        facts({
          customer,
          plan: hosted ? 'by organization' : plan,
          expires: expiresAt,
          'loads modules until': graceEndOf(check.license),
        }),
      )
    })
}

const wire = (license: License) => ({
  customer: license.customer,
  plan: license.plan,
  hosted: license.hosted,
  expires_at: license.expiresAt,
  grace_ends_at: graceEndOf(license),
})

/** A date means its last second in UTC. */
function readExpiry(text: string): string {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const time = new Date(isDate ? `${text}T23:59:59Z` : text)
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text)
  if ((!isDate && !isTime) || Number.isNaN(time.getTime())) {
    throw new CliError(
      `--expires must be a date such as 2027-12-31 or a time in RFC 3339; given: ${text}`,
    )
  }
  // The claim has whole seconds.
  return new Date(Math.floor(time.getTime() / 1000) * 1000).toISOString()
}
