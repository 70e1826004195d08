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
} from '@remit/core/orgs'
import type { OrganizationRecord, SettingsOptions } from '@remit/core/orgs'
import { Argument } from 'commander'
import type { Command } from 'commander'
import { choice, subcommand } from './command.ts'
import { CliError } from './errors.ts'
import { deleteCommand } from './org-delete.ts'
import { exportOrgCommand } from './org-export.ts'
import { organizationOf } from './session.ts'
import type { CommandRun } from './session.ts'
import { readCount, readOptionalReason } from './option-values.ts'
import { facts, table } from './table.ts'

/** Organizations on a page of `list`. */
const LISTED = 100
const MOST_LISTED = 1000

export function orgCommands(program: Command, session: CommandRun): void {
  const org = program.command('org').description('Organizations')

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
      session.product(async ({ db, remit }) => {
        const { id } = await organizationOf(db, idOrName)
        const change = readAssignments(assignments)
        const organization = await setSettings(remit.writer, id, change, options)
        const { warnings = [] } = settingsWarnings(organization.settings)
        for (const warning of warnings) session.warn(warning)
        session.print({ organization }, described(organization))
      }),
    )

  subcommand(org, 'set-plan <org>', 'Change the plan of an organization')
    .addArgument(new Argument('<plan>').choices(Plan.options))
    .action((idOrName: string, plan: Plan) =>
      session.product(async ({ db, remit, entitlement }) => {
        const { id } = await organizationOf(db, idOrName)
        const organization = await (entitlement.hosted
          ? changePlanAndLimits(remit.writer, id, { plan })
          : setPlan(remit.writer, id, plan))
        session.print({ organization }, described(organization))
      }),
    )

  subcommand(
    org,
    'set-limit <org> <limit=value...>',
    'Change the limits of an organization; an empty value removes one',
  )
    .addHelpText('after', `\nLimits: ${LIMIT_NAMES.join(', ')}`)
    .action((idOrName: string, assignments: readonly string[]) =>
      session.product(async ({ db, remit }) => {
        const { id } = await organizationOf(db, idOrName)
        const organization = await setLimits(remit.writer, id, readAssignments(assignments))
        session.print({ organization }, described(organization))
      }),
    )

  subcommand(org, 'suspend <org>', 'Suspend an organization: it can only read')
    .option('--reason <text>', 'Reason, for the ledger')
    .action((idOrName: string, { reason: given }: { reason?: string }) =>
      session.product(async ({ db, remit }) => {
        const reason = readOptionalReason(given ?? null)
        const { id } = await organizationOf(db, idOrName)
        const organization = await suspendOrganization(
          remit.writer,
          id,
          reason === null ? {} : { reason },
        )
        session.print({ organization }, described(organization))
      }),
    )

  subcommand(org, 'resume <org>', 'End the suspension of an organization').action(
    (idOrName: string) =>
      session.product(async ({ db, remit }) => {
        const { id } = await organizationOf(db, idOrName)
        const organization = await resumeOrganization(remit.writer, id)
        session.print({ organization }, described(organization))
      }),
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
