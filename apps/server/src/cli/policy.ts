import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PolicyDocument, PolicySetPlan } from '@remit/contract'
import { createClient, RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { parseStrictJson, StrictJsonError } from '@remit/contract/json'
import type { Command } from 'commander'
import { boot } from '../boot/boot.ts'
import { createLog } from '../boot/log.ts'
import { readConfig } from '../settings/config.ts'
import { CliError, EXIT } from './errors.ts'
import { readText, REPLACE, writeWhole } from './files.ts'
import { subcommand } from './options.ts'
import { placedErrors, readFolder, writeFolder } from './policy-files.ts'
import type { FileDocument } from './policy-files.ts'
import { importClaude, importCedar } from './policy-import.ts'
import type { Import } from './policy-import.ts'
import {
  importText,
  isUnmet,
  junit,
  markdown,
  planText,
  propertiesText,
  testsText,
} from './policy-output.ts'
import { remoteOption, remotely } from './session.ts'
import type { CommandRun, RemoteOptions } from './session.ts'

interface SetOptions extends RemoteOptions {
  readonly set: string
}

interface OutputOptions extends SetOptions {
  readonly replay?: string
  readonly junit?: string
  readonly markdown?: string
  readonly allowEmpty?: true
}

interface PlanOptions extends OutputOptions {
  readonly exitCode?: true
}

interface ApplyOptions extends OutputOptions {
  readonly overwriteDrift?: true
  readonly reason?: string
  readonly wait?: string
}

/** Rules as reviewed files: a folder of documents is tested, planned and applied. */
export function policyCommands(program: Command, session: CommandRun): void {
  const policy = program.command('policy').description('Manage rules as files')
  const command = (signature: string, description: string): Command =>
    remoteOption(subcommand(policy, signature, description)).option(
      '--set <id>',
      'The policy set',
      'main',
    )
  const outputs = (of: Command): Command =>
    of
      .option('--junit <file>', 'Write the tests as JUnit XML')
      .option('--markdown <file>', 'Write a summary in Markdown')

  outputs(
    command('validate <folder>', 'Check the documents of a folder; without --url, alone'),
  ).action((folder: string, options: OutputOptions) =>
    planning(session, folder, options, 'scratch', async ({ plan, documents }) => {
      const objects = documents.length
      session.print({ valid: true, documents: objects }, `${objects} documents are valid.\n`)
      await writeOutputs(plan, documents, options)
    }),
  )

  outputs(command('test <folder>', 'Run the tests of a folder; without --url, alone')).action(
    (folder: string, options: OutputOptions) =>
      planning(session, folder, options, 'scratch', async ({ plan, documents }) => {
        const text = testsText(plan.tests, valuesOf(documents))
        const { tests, properties } = plan
        session.print({ tests, properties }, `${text}${propertiesText(properties)}`)
        await writeOutputs(plan, documents, options)
        if (isFailing(plan)) session.exitCode = EXIT.failed
      }),
  )

  outputs(command('plan <folder>', 'Compare a folder with a server, and run its tests'))
    .option('--exit-code', 'Exit with 10 if there are changes')
    .option(
      '--replay <days>',
      'Count the recorded decisions of so many days that would differ, as 30d',
    )
    .option('--allow-empty', 'Accept a folder that describes no object')
    .action((folder: string, options: PlanOptions) =>
      planning(session, folder, options, 'server', async ({ plan, documents }) => {
        session.print({ plan }, planText(options.set, plan, valuesOf(documents)))
        await writeOutputs(plan, documents, options)
        session.exitCode = exitOf(plan, options.exitCode === true)
      }),
    )

  outputs(command('apply <folder>', 'Plan a folder and apply the plan'))
    .option('--overwrite-drift', 'Replace objects that were changed outside of the set')
    .option('--allow-empty', 'Accept a folder that describes no object')
    .option('--reason <text>', 'Reason of the change, for the ledger')
    .option('--wait <minutes>', 'Wait so long for an approval, as 10m')
    .action((folder: string, options: ApplyOptions) => {
      const waitMs = options.wait === undefined ? 0 : minutesOf(options.wait)
      return planning(
        session,
        folder,
        options,
        'server',
        async ({ client, plan, documents, body }) => {
          const text = planText(options.set, plan, valuesOf(documents))
          await writeOutputs(plan, documents, options)
          const none = (exitCode: number, why: string) => {
            session.print({ plan, applied: null }, `${text}${why}\n`)
            session.exitCode = exitCode
          }
          if (isFailing(plan)) return none(EXIT.failed, 'Nothing is applied.')
          if (plan.changes.length + plan.drift.length === 0)
            return none(EXIT.ok, 'Nothing to apply.')
          const answer = await applying(client, waitMs, {
            params: { id: options.set },
            body: {
              ...body,
              plan_digest: plan.plan_digest,
              ...(options.overwriteDrift && { overwrite_drift: true }),
              ...(options.reason !== undefined && { change_reason: options.reason }),
            },
          })
          if (answer === null) return none(EXIT.drift, 'Nothing is applied.')
          if ('revision' in answer) {
            session.print(
              { plan, applied: answer },
              `${text}Applied as revision ${answer.revision}.\n`,
            )
            return
          }
          const { approval } = answer
          session.print(
            { plan, applied: null, approval },
            `${text}The approval ${approval.id} is ${approval.status}; the same command applies the plan after the vote.\n`,
          )
          session.exitCode = EXIT.waiting
        },
      )
    })

  command('pull <folder>', 'Write the objects of a set to a folder')
    .option('--unmanaged', 'Also objects that belong to no set')
    .option(...REPLACE)
    .action(
      (
        folder: string,
        { set, unmanaged, replace, ...remote }: SetOptions & { unmanaged?: true; replace?: true },
      ) =>
        remotely(session, remote, async (client) => {
          const query = { unmanaged: unmanaged ? 'true' : 'false' } as const
          const { documents } = await client.getPolicySetDocuments({ params: { id: set }, query })
          const files = await writeFolder(folder, documents, replace === true)
          session.print(
            { documents: documents.length, files },
            `${documents.length} documents in ${files.length} files of ${folder}\n`,
          )
        }),
    )

  subcommand(policy, 'import <format> <file> <folder>', 'Write rules of another system to a folder')
    .option('--flat-actions', 'For Cedar: no action is in a group')
    .option(...REPLACE)
    .action(
      async (
        format: string,
        file: string,
        folder: string,
        { flatActions, replace }: { flatActions?: true; replace?: true },
      ) => {
        const { documents, report } = imported(format, file, flatActions === true)
        const files = await writeFolder(folder, documents, replace === true)
        session.print(
          { documents: documents.length, files, report },
          `${importText(report)}${documents.length} documents in ${files.length} files of ${folder}\n`,
        )
      },
    )
}

type ApplyCall = Parameters<Client['applyPolicySet']>[0]

/** Applies a plan, or waits so long for the vote that it needs; null if the set has drifted. */
async function applying(client: Client, waitMs: number, call: ApplyCall) {
  const end = Date.now() + waitMs
  for (;;) {
    const answer = await client.applyPolicySet(call).catch((error: unknown) => {
      if (error instanceof RemitError && error.code === 'drifted') return null
      throw error
    })
    const left = end - Date.now()
    if (answer === null || 'revision' in answer || left <= 0) return answer
    const { id } = answer.approval
    const wait = Math.min(55, Math.ceil(left / 1000))
    await client.getApproval({ params: { id }, query: { wait }, timeoutMs: 70_000 })
  }
}

/** Reads the file of another system. */
function imported(format: string, file: string, flatActions: boolean): Import {
  if (format !== 'claude' && format !== 'cedar')
    throw new CliError(`the format must be claude or cedar; given: ${format}`)
  try {
    const source = parseStrictJson(Buffer.from(readText(file)))
    return format === 'claude' ? importClaude(source) : importCedar(source, { flatActions })
  } catch (error) {
    if (error instanceof StrictJsonError)
      throw new CliError(`${file} is not JSON: ${error.reason}`, EXIT.failed)
    throw error
  }
}

const valuesOf = (documents: readonly FileDocument[]): PolicyDocument[] =>
  // The server has accepted them.
  documents.map(({ value }) => value as PolicyDocument)

/** A test failed, or a property does not hold as it must. */
const isFailing = ({ tests, properties }: PolicySetPlan): boolean =>
  tests.failed > 0 || properties.some(isUnmet)

/** Worse results first: a failed test, drift, changes. */
function exitOf(plan: PolicySetPlan, hasExitCode: boolean): number {
  if (isFailing(plan)) return EXIT.failed
  if (plan.drift.length > 0) return EXIT.drift
  return hasExitCode && plan.changes.length > 0 ? EXIT.changes : EXIT.ok
}

interface Planned {
  readonly client: Client
  readonly plan: PolicySetPlan
  readonly documents: readonly FileDocument[]
  readonly body: { readonly documents: PolicyDocument[]; readonly allow_empty?: boolean }
}

/** Plans a folder on a server, or in a scratch organization, and passes the plan on. */
async function planning(
  session: CommandRun,
  folder: string,
  options: OutputOptions,
  where: 'server' | 'scratch',
  then: (planned: Planned) => Promise<void>,
): Promise<void> {
  const documents = readFolder(folder)
  const allowsEmpty = where === 'scratch' || options.allowEmpty === true
  const body = {
    documents: valuesOf(documents),
    ...(allowsEmpty && { allow_empty: true }),
  }
  const period = options.replay === undefined ? null : periodOf(options.replay)
  const work = async (client: Client) => {
    const plan = await client
      .planPolicySet({
        params: { id: options.set },
        body: { ...body, ...(period && { replay: period }) },
        timeoutMs: 70_000,
      })
      .catch((error: unknown) => {
        throw refusalOf(documents, error)
      })
    await then({ client, plan, documents, body })
  }
  if (where === 'scratch' && options.url === undefined) await inScratch(session, work)
  else await remotely(session, options, work)
}

/** Minutes in milliseconds, such as `10m`. */
function minutesOf(text: string): number {
  const [, minutes] = /^(\d{1,4})m$/.exec(text) ?? []
  if (!minutes)
    throw new CliError(`--wait must be a number of minutes, such as 10m; given: ${text}`)
  return Number(minutes) * 60_000
}

const DAY_MS = 24 * 60 * 60 * 1000

/** The last days until now, such as `30d`. */
function periodOf(text: string): { from: string; to: string } {
  const [, days] = /^(\d{1,4})d$/.exec(text) ?? []
  if (!days || Number(days) === 0)
    throw new CliError(`--replay must be a number of days, such as 30d; given: ${text}`)
  const now = Date.now()
  return {
    from: new Date(now - Number(days) * DAY_MS).toISOString(),
    to: new Date(now).toISOString(),
  }
}

/** A refusal that names documents names their files instead. */
function refusalOf(documents: readonly FileDocument[], error: unknown): unknown {
  const errors = error instanceof RemitError ? error.problem?.errors : undefined
  return errors && errors.length > 0
    ? new CliError(placedErrors(documents, errors), EXIT.failed)
    : error
}

/** Settings that decide about modules. */
const LICENSE = /^REMIT_(?:LICENSE|EVALUATION)/

/** Runs work on a product of its own with an empty organization, as the license permits. */
async function inScratch(
  { io: { env } }: CommandRun,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'remit-policy-'))
  try {
    const license = Object.entries(env).filter(([name]) => LICENSE.test(name))
    const config = readConfig({
      ...Object.fromEntries(license),
      REMIT_DATABASE_URL: `sqlite:${join(folder, 'remit.db')}`,
      REMIT_LEDGER_KEY_FILE: join(folder, 'ledger.pem'),
    })
    const booted = await boot(config, { log: createLog('silent'), background: false })
    try {
      if (booted.entitlement.modules.length === 0)
        throw new CliError(
          `Policy sets are not available in this edition; --url names a server that has them. ${booted.entitlement.notice}`,
        )
      const { key } = await booted.newOrganization('policy')
      const fetch = async (request: Request) => booted.remit.app.fetch(request)
      await work(
        createClient({ baseUrl: 'http://remit.invalid', key: key.secret, fetch, retries: 0 }),
      )
    } finally {
      await booted.remit.close()
    }
  } catch (error) {
    throw error instanceof RemitError
      ? new CliError(error.problem?.detail ?? error.message, EXIT.failed)
      : error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function writeOutputs(
  plan: PolicySetPlan,
  documents: readonly FileDocument[],
  { set, junit: xml, markdown: summary }: OutputOptions,
): Promise<void> {
  if (xml !== undefined) await writeWhole([junit(plan, valuesOf(documents))], xml)
  if (summary !== undefined) await writeWhole([markdown(set, plan, valuesOf(documents))], summary)
}
