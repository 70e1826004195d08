import { createHash } from 'node:crypto'
import { posix, win32 } from 'node:path'
import { isName } from '@remit/contract'
import type { ToolHookInput } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import type { HostCall } from '@remit/core'

/** A program whose hooks have the events and members of Claude Code. */
export interface Host {
  /** Also the agent where none is named. */
  readonly name: string
  /** In front of the names of its own tools. */
  readonly prefix: string
}

export const CLAUDE_CODE: Host = { name: 'claude-code', prefix: 'claude.' }
export const CODEX: Host = { name: 'codex', prefix: 'codex.' }

/** A hook about a call of a tool. */
export interface ToolHook extends ToolHookInput {
  readonly tool_name: string
}

/**
 * The request for a call: `claude.<tool>`, or that of the MCP gateway for a tool of an MCP server, so that
 * one rule covers both. Pure.
 */
export function callOf(host: Host, hook: ToolHook, agentId: string): HostCall {
  const { tool_name: tool, tool_input: args = {}, session_id } = hook
  const named = mcpTools(hook)
  const [mcp, ...others] = typeof named === 'string' ? [] : named
  const facts = Object.fromEntries(
    ['cwd', 'permission_mode', 'agent_type'].flatMap((member) =>
      typeof hook[member] === 'string' ? [[member, hook[member]]] : [],
    ),
  )
  const files = filesOf(hook)
  const context = {
    args,
    tool,
    session_id,
    host: host.name,
    ...facts,
    ...(files.length > 0 && { files }),
    ...mcp,
  }
  const call = mcp
    ? { agentId, action: 'tools/call', resource: { type: 'tool', id: mcp.tool }, context }
    : { agentId, action: `${host.prefix}${tool}`, context }
  const unmappable = typeof named === 'string' ? named : ofHome(hook)
  if (unmappable !== null) return { ...call, unmappable }
  const readings = others.map((other) => ({
    resource: `tool:${other.tool}`,
    context: { ...other },
  }))
  return readings.length > 0 ? { ...call, readings } : call
}

const FILE_OF_PATCH = /^\s*\*\*\* (?:(?:Add|Update|Delete) File|Move to):[ \t]*(.+)$/gm

/** The files that a tool of the host changes or reads, each in one spelling: its absolute path. Pure. */
function filesOf({ tool_name: tool, tool_input: args, cwd }: ToolHook): readonly string[] {
  if (typeof args !== 'object' || args === null || tool.startsWith(PREFIX)) return []
  const members = args as Readonly<Record<string, unknown>>
  const named = [members['file_path'], members['notebook_path']]
  // A patch names several, and those that it moves.
  const patches = tool === 'apply_patch' ? Object.values(members) : []
  const texts = [
    ...named.filter((one) => typeof one === 'string'),
    ...patches
      .filter((one) => typeof one === 'string')
      .flatMap((patch) =>
        Array.from(patch.matchAll(FILE_OF_PATCH), ([, file = '']) => file.trim()),
      ),
  ]
  return [...new Set(texts.map((file) => absolute(file, cwd)))]
}

/** Why rules cannot see which file a tool changes: the host knows the home folder that `~` means. Pure. */
function ofHome({ tool_name: tool, tool_input: args }: ToolHook): string | null {
  if (typeof args !== 'object' || args === null || tool.startsWith(PREFIX)) return null
  const { file_path, notebook_path } = args as Readonly<Record<string, unknown>>
  const isOfHome = [file_path, notebook_path].some(
    (one) => typeof one === 'string' && /^\s*~(?:[/\\]|\s*$)/.test(one),
  )
  return isOfHome
    ? 'The path begins with ~, and rules do not know the folder. Name it in full.'
    : null
}

function absolute(file: string, cwd: unknown): string {
  const folder = typeof cwd === 'string' ? cwd : ''
  if (posix.isAbsolute(folder)) return posix.resolve(folder, file)
  return win32.isAbsolute(folder) ? win32.resolve(folder, file) : posix.normalize(file)
}

/** The facts of a call of a tool of an MCP server. */
interface McpCall {
  readonly tool: string
  readonly upstream: string
  /** The source of the definition of the server, as Claude Code names it. */
  readonly upstream_source?: string
}

const PREFIX = 'mcp__'
const SEPARATOR = '__'
const MAX_READINGS = 8

/**
 * The readings of the name `mcp__<server>__<tool>`, of which both parts may contain the separator: one if
 * the host names the server, none for a tool of the host itself. A text says why there are no readings
 * that rules can judge.
 */
function mcpTools({ tool_name: name, mcp_server: server }: ToolHook): readonly McpCall[] | string {
  if (server !== undefined && server.name !== '') {
    const { name: upstream, source } = server
    const prefix = prefixesOf(upstream).find((one) => name.startsWith(one) && name !== one)
    if (prefix === undefined)
      return `The name of the tool, ${name}, contradicts mcp_server, which names ${upstream}.`
    const own = { tool: name.slice(prefix.length), upstream }
    return [source === undefined ? own : { ...own, upstream_source: source }]
  }
  if (!name.startsWith(PREFIX)) return []
  const readings: McpCall[] = []
  const joined = name.slice(PREFIX.length)
  // Separators may overlap: `a___b` is `a` and `_b`, or `a_` and `b`.
  for (let at = joined.indexOf(SEPARATOR, 1); at !== -1; at = joined.indexOf(SEPARATOR, at + 1)) {
    const tool = joined.slice(at + SEPARATOR.length)
    if (tool !== '') readings.push({ tool, upstream: joined.slice(0, at) })
  }
  if (readings.length > MAX_READINGS)
    return `The name of the tool has ${readings.length} readings; at most ${MAX_READINGS} are judged. Rename the server.`
  return readings.every(({ tool }) => isName(tool))
    ? readings
    : 'The name of the tool has a part that no rule can name.'
}

/** The prefix of the names of a server's tools in Claude Code, which shortens those of claude.ai. */
function prefixesOf(server: string): readonly string[] {
  const name = server.replaceAll(/[^\w-]/g, '_')
  const short = name.replaceAll(/_+/g, '_').replaceAll(/^_|_$/g, '')
  return [name, ...(server.startsWith('claude.ai ') ? [short] : [])].map(
    (one) => `${PREFIX}${one}${SEPARATOR}`,
  )
}

/** Keys under which the decision on a call is found again. */
export interface CallKeys {
  readonly call: string
  readonly input: string
}

/** The keys of a call; hosts have sessions of their own. Pure. */
export function keysOf(
  host: Host,
  { session_id, tool_use_id = '', tool_name, tool_input = null }: ToolHook,
  agentId: string,
): CallKeys {
  const session = [host.name, agentId, session_id]
  return {
    call: hash([...session, tool_use_id]),
    input: hash([...session, tool_name, tool_input]),
  }
}

/** The question about a call: with another fact that rules can read, it is another question. Pure. */
export const questionOf = (key: string, call: HostCall): string => `${key}.${hash(call)}`

const hash = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url')

export const isToolHook = (hook: ToolHookInput): hook is ToolHook => hook.tool_name !== undefined
