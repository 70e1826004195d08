import { deleteOrganization, DELETION_DAYS, findDeleted, scheduleDeletion } from '@remit/core/orgs'
import type { Deletion, OrganizationRecord } from '@remit/core/orgs'
import type { Command } from 'commander'
import type { Booted } from '../boot/boot.ts'
import { subcommand } from './command.ts'
import { CliError } from './errors.ts'
import { FULL_LOG } from './ledger-erase.ts'
import { readCount, readReason } from './option-values.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { facts } from './table.ts'

interface DeleteOptions {
  readonly confirm?: string
  readonly days?: string
  readonly reason?: string
}

export function deleteCommand(org: Command, session: CommandRun): void {
  subcommand(
    org,
    'delete <org>',
    'Schedule the deletion of a suspended organization; with --confirm, remove it',
  )
    .option('--days <days>', `Days until it can be removed; default: ${DELETION_DAYS}`)
    .option('--confirm <id>', 'Id of the organization: remove all of its rows now')
    .option('--reason <text>', 'Reason, for the ledger')
    .action((idOrName: string, options: DeleteOptions) =>
      session.product((booted) =>
        options.confirm === undefined
          ? schedule(session, booted, idOrName, options)
          : remove(session, booted, idOrName, options.confirm, options),
      ),
    )
}

const notedOf = ({ reason }: DeleteOptions) =>
  reason === undefined ? {} : { reason: readReason(reason) }

async function schedule(
  session: CommandRun,
  { db, remit }: Booted,
  idOrName: string,
  options: DeleteOptions,
): Promise<void> {
  const { id } = await organizationOf(db, idOrName)
  const days = options.days === undefined ? DELETION_DAYS : readCount('--days', options.days)
  const organization = await scheduleDeletion(remit.writer, id, days, notedOf(options))
  session.print({ organization }, scheduled(organization))
}

const scheduled = ({ id, name, delete_after = '' }: OrganizationRecord): string =>
  facts({ organization: id, name, 'can be removed from': delete_after }) +
  `Nothing was removed. \`remit org export\` writes an archive, \`remit org resume\` cancels the deletion,\n` +
  `and \`remit org delete ${id} --confirm ${id}\` removes all rows of the organization.\n`

async function remove(
  session: CommandRun,
  { db, remit, clock }: Booted,
  idOrName: string,
  confirmed: string,
  options: DeleteOptions,
): Promise<void> {
  if (options.days !== undefined) throw new CliError('--days cannot be used with --confirm')
  // An interrupted deletion is continued by the id: the name is gone.
  const id = (await findDeleted(db, idOrName))?.id ?? (await organizationOf(db, idOrName)).id
  if (confirmed !== id)
    throw new CliError(`--confirm must be the id of the organization, ${id}; given: ${confirmed}`)
  const deletion = await deleteOrganization(
    { db, clock, writer: remit.writer },
    id,
    notedOf(options),
  )
  if (!deletion.log_emptied) session.warn(FULL_LOG)
  session.print({ deletion }, described(deletion))
}

const described = ({ id, deleted_at, ledger, removed }: Deletion): string =>
  facts({
    organization: id,
    'deleted at': deleted_at,
    'removed rows': Object.values(removed).reduce((sum, count) => sum + count, 0),
    entries: ledger.size,
  }) +
  `The end of its ledger stays, so that the deletion can be proven:\n${ledger.checkpoint}\n` +
  'Copies of checkpoints outside of the database and backups are not changed.\n'
