import { join } from 'node:path'
import type { InventoryItem } from '@remit/contract'
import type { ConfigFile, Discovered } from './finding.ts'
import { hookItems, ungovernedReason } from './hooks.ts'
import { HOSTS } from './hosts.ts'
import type { Host, HostFile } from './hosts.ts'
import { readConfig } from './read-config.ts'
import { projectServerItems, serverItems } from './servers.ts'

/** The files to read: of a machine, or of a repository. */
export interface Places {
  /** Folders by the place of a file; files of other places are not read. */
  readonly folders: Partial<Record<HostFile['in'], readonly string[]>>
  /** Addresses of gateways of Remit, without a slash at the end. */
  readonly gateways: readonly string[]
  /** The path of a file as it is shown. */
  readonly shown: (path: string) => string
}

/** Reads the configuration of all known hosts. A file that cannot be read is named, and the rest is read. */
export function discover(places: Places): Discovered {
  const found = HOSTS.map((host) => examine(host, places))
  return {
    items: found.flatMap(({ items }) => items),
    unread: found.flatMap(({ unread }) => unread),
  }
}

interface ReadFile extends ConfigFile {
  readonly has: HostFile['has']
}

function examine(host: Host, { folders, gateways, shown }: Places): Discovered {
  const files: ReadFile[] = []
  const unread: string[] = []
  for (const file of host.files) {
    for (const folder of folders[file.in] ?? []) {
      const path = join(folder, file.path)
      try {
        const content = readConfig(path)
        if (content) files.push({ path: shown(path), content, has: file.has })
      } catch {
        unread.push(shown(path))
      }
    }
  }
  const items = files.flatMap((file) => itemsOf(host, file, gateways))
  const [first] = files
  // A file without anything of an agent, such as settings of an editor, shows no agent.
  const isThere = first !== undefined && (host.hooks !== undefined || items.length > 0)
  return { items: isThere ? [agentItem(host, files, first, items), ...items] : items, unread }
}

function itemsOf(host: Host, file: ReadFile, gateways: readonly string[]): InventoryItem[] {
  return [
    ...(file.has.includes('servers') ? serverItems(file, gateways) : []),
    ...(file.has.includes('projects') ? projectServerItems(file, gateways) : []),
    ...(host.hooks && file.has.includes('hooks') ? hookItems(file, host.hooks) : []),
  ]
}

function agentItem(
  host: Host,
  files: readonly ReadFile[],
  first: ReadFile,
  items: readonly InventoryItem[],
): InventoryItem {
  const servers = items.filter(({ kind }) => kind === 'mcp_server')
  const behind = `${servers.filter(({ governed }) => governed).length} of ${servers.length} MCP servers behind the gateway`
  const reason = host.hooks
    ? ungovernedReason(files, host.hooks)
    : 'this host has no hooks for Remit; its own tools are not governed'
  return {
    kind: 'agent',
    name: host.name,
    path: first.path,
    governed: reason === null,
    detail: `${reason ?? 'hooks ask Remit before every tool'}; ${behind}`,
  }
}
