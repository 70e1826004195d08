import { basename } from 'node:path'
import type { InventoryItem } from '@remit/contract'
import { isMembers, membersIn } from './finding.ts'
import type { ConfigFile, Members } from './finding.ts'
import { shownName } from './shown-name.ts'

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
  ].flatMap((servers) => Object.entries(servers))

/** The MCP servers of a file. `gateways` are the addresses of gateways of Remit. Pure. */
export const serverItems = (
  { path, content }: ConfigFile,
  gateways: readonly string[],
): InventoryItem[] =>
  serversIn(content).map(([name, server]) => ({
    kind: 'mcp_server',
    name: shownName(name),
    path,
    governed: isGoverned(server, gateways),
    detail: described(server),
  }))

/** Servers of the projects that Claude Code keeps in the home folder. Pure. */
export const projectServerItems = (
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
function described(server: unknown): string {
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
