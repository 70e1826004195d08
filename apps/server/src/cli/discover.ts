import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename } from 'node:path'
import type { InventoryInput } from '@remit/contract'
import type { Command } from 'commander'
import { discover, machinePlaces, repositoryPlaces, shownName } from '../discover/discover.ts'
import { subcommand, userPath } from './options.ts'
import { CliError, EXIT } from './errors.ts'
import { remoteOption, remotely } from './session.ts'
import type { RemoteOptions, CommandRun } from './session.ts'
import { table } from './table.ts'

interface DiscoverOptions extends RemoteOptions {
  readonly host?: string
  readonly gateway?: readonly string[]
  readonly upload?: true
  readonly requireGoverned?: true
}

export function discoverCommand(program: Command, session: CommandRun): void {
  remoteOption(subcommand(program, 'discover [folder]', 'Find agent hosts and what governs them'))
    .option('--host <name>', 'Name in the inventory; default: the machine or the folder')
    .option('--gateway <url...>', 'Address of a gateway of Remit, whose servers are governed')
    .option('--upload', 'Keep the result in the inventory of the organization')
    .option('--require-governed', 'Exit with 1 if anything is not governed or cannot be read')
    .action(async (given: string | undefined, options: DiscoverOptions) => {
      const folder = given === undefined ? null : folderAt(given)
      const places = folder === null ? machinePlaces(session.io.env) : repositoryPlaces(folder)
      const gateways = (options.gateway ?? []).map(readGateway)
      const { items, unread } = discover({ ...places, gateways })
      const host = shownName(options.host ?? (folder === null ? hostname() : basename(folder)))
      const found = { host, items: [...items], unread: [...unread] }
      if (options.upload)
        await remotely(session, options, (client) => client.reportInventory({ body: found }))
      session.print(found, described(found))
      const isGoverned = unread.length === 0 && items.every(({ governed }) => governed)
      if (options.requireGoverned && !isGoverned) session.exitCode = EXIT.failed
    })
}

function folderAt(given: string): string {
  const folder = userPath(given)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder
  throw new CliError(`${folder} is not a folder`)
}

function readGateway(text: string): string {
  if (/^https?:/.test(text) && URL.canParse(text)) return new URL(text).href.replace(/\/+$/, '')
  throw new CliError(`--gateway: ${text} is not an http or https URL`)
}

const KINDS = { agent: 'agent', mcp_server: 'MCP server', hook: 'hook' } as const

function described({ host, items, unread }: InventoryInput): string {
  const rows = items.map(({ kind, name, governed, detail, path }) => [
    KINDS[kind],
    name,
    governed ? 'yes' : 'no',
    detail,
    path,
  ])
  const list =
    items.length === 0
      ? `No agent host is configured on ${host}.\n`
      : table(['KIND', 'NAME', 'GOVERNED', 'DETAIL', 'FILE'], rows)
  const rest = unread.map((path) => `could not be read: ${path}\n`).join('')
  return `${list}${rest}`
}
