import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Plan } from '@remit/contract'
import { LIMIT_NAMES, SETTING_NAMES, settingFromText } from '@remit/core/orgs/settings'
import {
  changePlanAndLimits,
  organizationPage,
  organizationRecord,
  resumeOrganization,
  setLimits,
  setPlan,
  setSettings,
  settingsWarnings,
  suspendOrganization,
  deleteOrganization,
  DELETION_DAYS,
  findDeleted,
  scheduleDeletion,
  exportConfiguration,
} from '@remit/core/orgs'
import type { OrganizationRecord, SettingsOptions, Deletion } from '@remit/core/orgs'
import { Argument } from 'commander'
import type { Command } from 'commander'
import { isoTime } from '@remit/core/base'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import {
  choice,
  subcommand,
  readCount,
  readOptionalReason,
  readReason,
  userPath,
} from './options.ts'
import { CliError } from './errors.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { facts, table } from './table.ts'
import type { Booted } from '../boot/boot.ts'
import { FULL_LOG } from './ledger.ts'
import { VERSION } from '../settings/version.ts'
import { fileFault } from '../settings/read-file.ts'
import { writeWhole } from './files.ts'

/** Organizations on a page of `list`. */
const LISTED = 100
const MOST_LISTED = 1000

export function orgCommands(program: Command, session: CommandRun): void {
  const org = program.command('org').description('Organizations')
  const change = (
    idOrName: string,
    work: (booted: Booted, id: string) => Promise<OrganizationRecord>,
  ) =>
    session.changing(idOrName, async (booted, { id }) => {
      const organization = await work(booted, id)
      session.print({ organization }, described(organization))
    })

  subcommand(org, 'create <name>', 'Create an organization with its ledger and first admin key')
    .addOption(
      choice(
        '--plan <plan>',
        'Plan; default: free under a hosted license, else enterprise',
        Plan.options,
      ),
    )
    .action((name: string, { plan }: { plan?: Plan }) =>
      session.product(async ({ newOrganization }) => {
        const { organization, key } = await newOrganization(name, { plan })
        const { id, created_at } = organization
        session.print(
          {
            organization: { id, name, plan: organization.plan, created_at },
            key: { id: key.id, role: key.role, secret: key.secret },
          },
          facts({ organization: id, name, plan: organization.plan, 'admin key': key.secret }) +
            'The key is shown only once.\n',
        )
      }),
    )

  subcommand(org, 'list', 'List the organizations, oldest first')
    .option('--limit <count>', `Maximum number, up to ${MOST_LISTED}; default: ${LISTED}`)
    .option('--cursor <id>', 'Continue after this organization, the last one of a page')
    .action(({ limit, cursor }: { limit?: string; cursor?: string }) =>
      session.database(async (db) => {
        const most = limit === undefined ? LISTED : readCount('--limit', limit)
        if (most < 1 || most > MOST_LISTED)
          throw new CliError(`--limit must be from 1 to ${MOST_LISTED}; given: ${limit}`)
        const { rows, next } = await organizationPage(db, most, cursor)
        const organizations = rows.map(organizationRecord)
        session.print(
          { organizations, next_cursor: next },
          table(
            ['ID', 'NAME', 'PLAN', 'CREATED'],
            organizations.map(({ id, name, plan, created_at }) => [id, name, plan, created_at]),
          ) + (next === null ? '' : `More: remit org list --cursor ${next}\n`),
        )
      }),
    )

  subcommand(
    org,
    'set <org> <setting=value...>',
    'Change settings; an empty value restores the default',
  )
    .option('--acknowledge-short-retention', 'Confirm that a retention_days below 183 is intended')
    .addHelpText('after', `\nSettings: ${SETTING_NAMES.join(', ')}`)
    .action((idOrName: string, assignments: readonly string[], options: SettingsOptions) =>
      change(idOrName, async ({ remit }, id) => {
        const settings = readAssignments(assignments)
        const organization = await setSettings(remit.writer, id, settings, options)
        const { warnings = [] } = settingsWarnings(organization.settings)
        for (const warning of warnings) session.warn(warning)
        return organization
      }),
    )

  subcommand(org, 'set-plan <org>', 'Change the plan of an organization')
    .addArgument(new Argument('<plan>').choices(Plan.options))
    .action((idOrName: string, plan: Plan) =>
      change(idOrName, ({ remit, entitlement }, id) =>
        entitlement.hosted
          ? changePlanAndLimits(remit.writer, id, { plan })
          : setPlan(remit.writer, id, plan),
      ),
    )

  subcommand(
    org,
    'set-limit <org> <limit=value...>',
    'Change the limits of an organization; an empty value removes one',
  )
    .addHelpText('after', `\nLimits: ${LIMIT_NAMES.join(', ')}`)
    .action((idOrName: string, assignments: readonly string[]) =>
      change(idOrName, ({ remit }, id) =>
        setLimits(remit.writer, id, readAssignments(assignments)),
      ),
    )

  subcommand(org, 'suspend <org>', 'Suspend an organization: it can only read')
    .option('--reason <text>', 'Reason, for the ledger')
    .action((idOrName: string, { reason: given }: { reason?: string }) =>
      change(idOrName, ({ remit }, id) => {
        const reason = readOptionalReason(given ?? null)
        return suspendOrganization(remit.writer, id, reason === null ? {} : { reason })
      }),
    )

  subcommand(org, 'resume <org>', 'End the suspension of an organization').action(
    (idOrName: string) => change(idOrName, ({ remit }, id) => resumeOrganization(remit.writer, id)),
  )

  exportOrgCommand(org, session)
  deleteCommand(org, session)
}

const described = (record: OrganizationRecord): string => {
  const { id, name, plan, settings, limits = {}, suspended_at, delete_after } = record
  return facts({
    organization: id,
    name,
    plan,
    ...(suspended_at !== undefined && { 'suspended since': suspended_at }),
    ...(delete_after !== undefined && { 'deletion possible from': delete_after }),
    ...Object.fromEntries(
      Object.entries(limits).map(([limit, value]) => [`limit ${limit}`, String(value)]),
    ),
    ...Object.fromEntries(
      Object.entries(settings).map(([setting, value]) => [setting, String(value) || 'none']),
    ),
  })
}

/** Parses `name=value` into a settings change. */
export function readAssignments(assignments: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    assignments.map((assignment) => {
      const at = assignment.indexOf('=')
      if (at < 1) throw new CliError(`${assignment} is not a setting in the form name=value`)
      const name = assignment.slice(0, at)
      return [name, settingFromText(name, assignment.slice(at + 1))]
    }),
  )
}

interface DeleteOptions {
  readonly confirm?: string
  readonly days?: string
  readonly reason?: string
}

function deleteCommand(org: Command, session: CommandRun): void {
  subcommand(
    org,
    'delete <org>',
    'Schedule the deletion of a suspended organization; with --confirm, remove it',
  )
    .option('--days <days>', `Days until it can be removed; default: ${DELETION_DAYS}`)
    .option('--confirm <id>', 'Id of the organization: remove all of its rows now')
    .option('--reason <text>', 'Reason, for the ledger')
    .action((idOrName: string, options: DeleteOptions) =>
      options.confirm === undefined
        ? schedule(session, idOrName, options)
        : session.product((booted) =>
            remove(session, booted, idOrName, options.confirm ?? '', options),
          ),
    )
}

const notedOf = ({ reason }: DeleteOptions) =>
  reason === undefined ? {} : { reason: readReason(reason) }

const schedule = (session: CommandRun, idOrName: string, options: DeleteOptions): Promise<void> =>
  session.changing(idOrName, async ({ remit }, { id }) => {
    const days = options.days === undefined ? DELETION_DAYS : readCount('--days', options.days)
    const organization = await scheduleDeletion(remit.writer, id, days, notedOf(options))
    session.print({ organization }, scheduled(organization))
  })

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
  session.print({ deletion }, describeDeletion(deletion))
}

const describeDeletion = ({ id, deleted_at, ledger, removed }: Deletion): string =>
  facts({
    organization: id,
    'deleted at': deleted_at,
    'removed rows': Object.values(removed).reduce((sum, count) => sum + count, 0),
    entries: ledger.size,
  }) +
  `The end of its ledger stays, so that the deletion can be proven:\n${ledger.checkpoint}\n` +
  'Copies of checkpoints outside of the database and backups are not changed.\n'

const LEDGER = 'ledger.ndjson'
const CONFIGURATION = 'configuration.ndjson'
const SUMS = 'SHA256SUMS'

function exportOrgCommand(org: Command, session: CommandRun): void {
  subcommand(org, 'export <org>', 'Write everything about an organization, without secrets')
    .requiredOption('--out <folder>', 'Folder for the files; it must not exist')
    .action((idOrName: string, { out }: { out: string }) =>
      session.changing(idOrName, async ({ db, remit, clock, ledgerKey }, { id }) => {
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
