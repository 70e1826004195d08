import { join, basename, relative, sep } from 'node:path'
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { Name } from '@remit/contract'
import type { InventoryItem } from '@remit/contract'
import JSON5 from 'json5'
import { parse as parseToml } from 'smol-toml'
import { UNSEEN } from '@remit/contract/fit'

/** The files to read: of a machine, or of a repository. */
interface Places {
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

const MAX_BYTES = 16 * 1024 * 1024

/** The content of a file; null if there is no file. Throws if it cannot be read. */
function readConfig(path: string): Members | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return null
  if (!stat.isFile()) throw new Error('is no file')
  if (stat.size > MAX_BYTES) throw new Error(`is larger than ${MAX_BYTES} bytes`)
  const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  if (text.trim() === '') return {}
  // Hosts read comments and commas at the end, which JSON5 has.
  const content: unknown = path.endsWith('.toml') ? parseToml(text) : JSON5.parse(text)
  if (!isMembers(content)) throw new Error('is no object')
  return content
}

type Hooked = NonNullable<Host['hooks']>

interface FoundHook {
  readonly event: string
  readonly matcher: unknown
  readonly hook: Members
}

/** The hooks of a file, one item for each event and kind. Pure. */
const hookItems = (file: ConfigFile, host: Hooked): InventoryItem[] =>
  hooksIn(file.content).map((found) => ({
    kind: 'hook',
    name: shownName(found.event),
    path: file.path,
    governed: faultOf(found, host) === null,
    detail: described(found, host),
  }))

/**
 * The reason for which hooks of a host do not put Remit in front of every tool; null if they do. Settings
 * of the files are read together. Pure.
 */
function ungovernedReason(files: readonly ConfigFile[], host: Hooked): string | null {
  if (files.some(({ content }) => content['disableAllHooks'] === true))
    return 'disableAllHooks is set'
  if (
    host === 'codex' &&
    files.some(({ content }) => membersIn(content, 'features')['hooks'] === false)
  )
    return 'the feature hooks is switched off'
  const asking = files
    .flatMap(({ content }) => hooksIn(content))
    .filter(({ event, hook }) => event === 'PreToolUse' && isRemit(hook, host))
  if (asking.length === 0) return 'no hook of PreToolUse asks Remit'
  const faults = asking.map((found) => faultOf(found, host))
  return faults.includes(null) ? null : (faults[0] ?? null)
}

function hooksIn(content: Members): FoundHook[] {
  return Object.entries(membersIn(content, 'hooks')).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? (groups as unknown[]) : []).flatMap((group) => {
      if (!isMembers(group)) return []
      const own = Array.isArray(group['hooks']) ? (group['hooks'] as unknown[]) : []
      return own.filter(isMembers).map((hook) => ({ event, matcher: group['matcher'], hook }))
    }),
  )
}

/** The reason for which a hook does not put Remit in front of all tools; null if it does. */
function faultOf({ event, matcher, hook }: FoundHook, host: Hooked): string | null {
  if (!isRemit(hook, host))
    return OLD_COMMAND.test(String(hook['command']))
      ? 'remit hook is now remit-sdk hook, of @remit/sdk'
      : 'asks another program'
  const isForAll = matcher === undefined || matcher === null || matcher === '' || matcher === '*'
  if (!isForAll && matcher !== '.*') return 'its matcher leaves tools out'
  if (event === 'PreToolUse' && host === 'claude-code' && hook['onFailure'] !== 'block')
    return 'without onFailure "block", a failure lets the tool run'
  return null
}

const COMMAND = /(?:^|[\s/"'])(?:remit-sdk|@remit\/sdk(?:@[\w.^~-]+)?)["']?\s+hook\s+codex(?:\s|$)/

/** The program of the SDK before it had a name of its own. */
const OLD_COMMAND = /(?:^|[\s/"'])remit["']?\s+hook\s+codex(?:\s|$)/

function isRemit({ type, url, command }: Members, host: Hooked): boolean {
  if (host === 'codex') return typeof command === 'string' && COMMAND.test(command)
  return (
    type === 'http' &&
    typeof url === 'string' &&
    URL.canParse(url) &&
    new URL(url).pathname.endsWith('/v1/hooks/claude-code')
  )
}

/** Without the command and the address: both may have secrets. */
function described(found: FoundHook, host: Hooked): string {
  const type = typeof found.hook['type'] === 'string' ? shownName(found.hook['type']) : 'command'
  const fault = faultOf(found, host)
  if (fault !== null) return `${type}: ${fault}`
  return host === 'codex'
    ? `${type}: asks Remit; runs the tool if the hook is killed`
    : `${type}: asks Remit`
}

/** Places of the files of a host. `home`, `system` and `project` are relative to these; `app` is per platform. */
interface HostFile {
  readonly in: 'home' | 'project' | 'app' | 'system'
  readonly path: string
  /** The content of the file. */
  readonly has: readonly Part[]
}

/** `servers`: members of `mcpServers` and the like. `hooks`: hooks as Claude Code has them. */
type Part = 'servers' | 'projects' | 'hooks'

/** An agent host whose configuration is known. */
interface Host {
  readonly name: string
  readonly files: readonly HostFile[]
  /** Its hooks can ask Remit; of another host only MCP servers can be governed. */
  readonly hooks?: 'claude-code' | 'codex'
}

const servers = ['servers'] as const
const hooks = ['hooks'] as const

/** The places of the configuration of each host, by its documentation. */
const HOSTS: readonly Host[] = [
  {
    name: 'Claude Code',
    hooks: 'claude-code',
    files: [
      { in: 'home', path: '.claude.json', has: ['servers', 'projects'] },
      { in: 'home', path: '.claude/settings.json', has: hooks },
      { in: 'project', path: '.claude/settings.json', has: hooks },
      { in: 'project', path: '.claude/settings.local.json', has: hooks },
      { in: 'project', path: '.mcp.json', has: servers },
      { in: 'system', path: '/etc/claude-code/managed-settings.json', has: hooks },
      { in: 'system', path: '/etc/claude-code/managed-mcp.json', has: servers },
      {
        in: 'system',
        path: '/Library/Application Support/ClaudeCode/managed-settings.json',
        has: hooks,
      },
      {
        in: 'system',
        path: '/Library/Application Support/ClaudeCode/managed-mcp.json',
        has: servers,
      },
    ],
  },
  {
    name: 'Claude Desktop',
    files: [{ in: 'app', path: 'Claude/claude_desktop_config.json', has: servers }],
  },
  {
    name: 'Codex',
    hooks: 'codex',
    files: [
      { in: 'home', path: '.codex/config.toml', has: ['servers', 'hooks'] },
      { in: 'home', path: '.codex/hooks.json', has: hooks },
      { in: 'project', path: '.codex/config.toml', has: ['servers', 'hooks'] },
      { in: 'project', path: '.codex/hooks.json', has: hooks },
      { in: 'system', path: '/etc/codex/config.toml', has: ['servers', 'hooks'] },
      { in: 'system', path: '/etc/codex/requirements.toml', has: hooks },
    ],
  },
  {
    name: 'Cursor',
    files: [
      { in: 'home', path: '.cursor/mcp.json', has: servers },
      { in: 'project', path: '.cursor/mcp.json', has: servers },
    ],
  },
  {
    name: 'VS Code',
    files: [
      { in: 'app', path: 'Code/User/mcp.json', has: servers },
      { in: 'app', path: 'Code/User/settings.json', has: servers },
      { in: 'project', path: '.vscode/mcp.json', has: servers },
      { in: 'project', path: '.vscode/settings.json', has: servers },
    ],
  },
  {
    name: 'Windsurf',
    files: [{ in: 'home', path: '.codeium/windsurf/mcp_config.json', has: servers }],
  },
  {
    name: 'Gemini CLI',
    files: [
      { in: 'home', path: '.gemini/settings.json', has: servers },
      { in: 'project', path: '.gemini/settings.json', has: servers },
    ],
  },
  {
    name: 'GitHub Copilot CLI',
    files: [{ in: 'home', path: '.copilot/mcp-config.json', has: servers }],
  },
]

/**
 * Servers by name; two members of one file may have the same name. `mcp.servers` is the member in
 * settings of VS Code.
 */
const serversIn = (content: Members): [string, unknown][] =>
  [
    membersIn(content, 'mcpServers'),
    membersIn(content, 'mcp_servers'),
    membersIn(content, 'servers'),
    membersIn(membersIn(content, 'mcp'), 'servers'),
    membersIn(content, 'mcp.servers'),
  ].flatMap((found) => Object.entries(found))

/** The MCP servers of a file. `gateways` are the addresses of gateways of Remit. Pure. */
const serverItems = ({ path, content }: ConfigFile, gateways: readonly string[]): InventoryItem[] =>
  serversIn(content).map(([name, server]) => ({
    kind: 'mcp_server',
    name: shownName(name),
    path,
    governed: isGoverned(server, gateways),
    detail: describeServers(server),
  }))

/** Servers of the projects that Claude Code keeps in the home folder. Pure. */
const projectServerItems = (
  { path, content }: ConfigFile,
  gateways: readonly string[],
): InventoryItem[] =>
  Object.values(membersIn(content, 'projects')).flatMap((project) =>
    isMembers(project) ? serverItems({ path, content: project }, gateways) : [],
  )

const GATEWAY = /^(?:@remit\/mcp|remit-mcp)(?:@[\w.^~-]+)?$/

function isGoverned(server: unknown, gateways: readonly string[]): boolean {
  if (!isMembers(server)) return false
  const url = urlOf(server)
  if (url !== null) {
    // As it is requested: `https://gateway/mcp/../other` is not below `https://gateway/mcp`.
    const href = URL.parse(url)?.href ?? ''
    return gateways.some((gateway) => href === gateway || href.startsWith(`${gateway}/`))
  }
  const [program = '', ...args] = commandOf(server)
  if (GATEWAY.test(nameOf(program))) return true
  // The first word that is no option is what a runner starts; a later one may be an argument of it.
  const started = startedBy(program, args)
  return started !== null && GATEWAY.test(started)
}

/** The command of a server, without arguments and variables, which may be secrets. */
function describeServers(server: unknown): string {
  if (!isMembers(server)) return 'not readable'
  const off = server['disabled'] === true || server['enabled'] === false ? ' (switched off)' : ''
  const url = urlOf(server)
  if (url !== null) return `http: ${originOf(url)}${off}`
  const [program = '', ...args] = commandOf(server)
  if (program === '') return `no command and no URL${off}`
  const started = startedBy(program, args)
  const text = started === null ? nameOf(program) : `${nameOf(program)} ${started}`
  return `stdio: ${text}`.slice(0, 400) + off
}

function urlOf(server: Members): string | null {
  for (const member of ['url', 'serverUrl', 'httpUrl']) {
    const value = server[member]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:'])

/** Credentials can be in the user, the path and the query of an address. */
function originOf(url: string): string {
  const { protocol, host } = URL.parse(url) ?? { protocol: '', host: '' }
  return SCHEMES.has(protocol) ? `${protocol}//${host}` : 'not readable'
}

function commandOf({ command, args }: Members): string[] {
  const words = Array.isArray(command) ? (command as unknown[]) : [command]
  const more = Array.isArray(args) ? (args as unknown[]) : []
  return [...words, ...more].filter((word): word is string => typeof word === 'string')
}

function nameOf(program: string): string {
  // Some hosts take a command line here, with arguments and variables.
  const isPath = !program.includes('=') && (!/\s/.test(program) || ABSOLUTE.test(program))
  const name = basename(program.replaceAll('\\', '/')).replace(/\.(?:exe|cmd)$/i, '')
  return isPath && !/\s/.test(name) ? shownName(name) : 'a command line'
}

const ABSOLUTE = /^(?:\/|~\/|[a-z]:[\\/]|\\\\)/i

const RUNNERS: ReadonlySet<string> = new Set(['npx', 'bunx', 'uvx', 'pnpm', 'yarn', 'npm', 'bun'])
const HARMLESS = /^(?:-y|--yes|-q|--quiet|--silent|dlx|exec|x|--)$/
const PACKAGE = /^(?:@[\w.-]+\/)?[\w.-]+(?:@[\w.^~-]+)?$/

/** The package that a runner starts; null where an argument before it may be a secret. */
function startedBy(program: string, args: readonly string[]): string | null {
  if (!RUNNERS.has(nameOf(program))) return null
  const first = args.find((arg) => !HARMLESS.test(arg))
  return first !== undefined && PACKAGE.test(first) && !first.startsWith('-') ? first : null
}

/** A finding in the configuration of an agent host; contains no secret. */
interface Discovered {
  readonly items: readonly InventoryItem[]
  /** Files that exist and could not be read. */
  readonly unread: readonly string[]
}

/** A parsed file of configuration, and its path as it is shown. */
interface ConfigFile {
  readonly path: string
  readonly content: Members
}

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A member that is an object; an empty one where it is not. */
function membersIn(value: unknown, name: string): Members {
  const found = isMembers(value) ? value[name] : undefined
  return isMembers(found) ? found : {}
}

type Env = Readonly<Record<string, string | undefined>>

/** The files of this machine: those of the user and of the system. The home folder is shown as `~`. */
export function machinePlaces(env: Env): Omit<Places, 'gateways'> {
  const home = env['HOME'] ?? env['USERPROFILE'] ?? homedir()
  return {
    folders: { home: [home], app: [appFolder(home, env)], system: ['/'] },
    shown: (path) => (isBelow(home, path) ? `~${sep}${relative(home, path)}` : path),
  }
}

/** The files of a repository, shown by their path in it. */
export const repositoryPlaces = (folder: string): Omit<Places, 'gateways'> => ({
  folders: { project: [folder] },
  shown: (path) => relative(folder, path),
})

function appFolder(home: string, env: Env): string {
  if (process.platform === 'darwin') return join(home, 'Library/Application Support')
  if (process.platform === 'win32') return env['APPDATA'] ?? join(home, 'AppData/Roaming')
  return env['XDG_CONFIG_HOME'] ?? join(home, '.config')
}

const isBelow = (folder: string, path: string): boolean => path.startsWith(`${folder}${sep}`)

const MAX_LENGTH = 200

/** A text of a configuration as a name that the inventory takes. Pure. */
export function shownName(text: string): string {
  const clean = text
    .normalize('NFC')
    .replaceAll(UNSEEN, '?')
    .replaceAll('*', '?')
    .slice(0, MAX_LENGTH)
    .toWellFormed()
    .trim()
  return Name.safeParse(clean).success ? clean : 'unnamed'
}
