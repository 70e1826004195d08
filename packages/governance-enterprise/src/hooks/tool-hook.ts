import { createHash } from 'node:crypto'
import { posix, win32 } from 'node:path'
import type { ToolHookInput } from '@remit/contract'
import { isName } from '@remit/contract/values'
import { canonicalJson } from '@remit/contract/json'
import type { HostCall } from '@remit/core/decision'

/** A program whose hooks have the events and members of Claude Code. */
export interface Host {
  /** Also the agent where none is named. */
  readonly name: string
  /** In front of the names of its own tools. */
  readonly prefix: string
}

export const CLAUDE_CODE: Host = { name: 'claude-code', prefix: 'claude.' }
export const CODEX: Host = { name: 'codex', prefix: 'codex.' }

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
    ...(typeof files !== 'string' && files.length > 0 && { files }),
    ...mcp,
  }
  const call = mcp
    ? { agentId, action: 'tools/call', resource: { type: 'tool', id: mcp.tool }, context }
    : { agentId, action: `${host.prefix}${tool}`, context }
  const unmappable = [named, files].find(isText)
  if (unmappable !== undefined) return { ...call, unmappable }
  const readings = others.map((other) => ({
    resource: `tool:${other.tool}`,
    context: { ...other },
  }))
  return readings.length > 0 ? { ...call, readings } : call
}

/** Hosts trim a line of more blanks than there are in ASCII, and end it at U+000A alone. */
const FILE_OF_PATCH = /^[^!-~]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): ?(.*?)[ \t\r]*$/s
const OF_HOME = /^\s*~(?:[/\\]|\s*$)/
const LINE_OR_CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u

/**
 * The files that a tool of the host changes or reads, each in one spelling: its absolute path in NFC. A text
 * says why rules cannot see them. Pure.
 */
function filesOf({ tool_name: tool, tool_input: args, cwd }: ToolHook): readonly string[] | string {
  if (typeof args !== 'object' || args === null || tool.startsWith(PREFIX)) return []
  const { file_path, notebook_path, path } = args as Readonly<Record<string, unknown>>
  const named = [file_path, notebook_path, ...(tool === 'view_image' ? [path] : [])].filter(isText)
  // The host knows the home folder.
  if (named.some((one) => OF_HOME.test(one)))
    return 'The path begins with ~, and rules do not know the folder. Name it in full.'
  // A patch names several, and those that it moves.
  const patches = tool === 'apply_patch' ? Object.values(args).filter(isText) : []
  const lines = patches.flatMap((patch) => patch.split('\n'))
  const files = [...named, ...lines.flatMap((line) => FILE_OF_PATCH.exec(line)?.slice(1) ?? [])]
  if (files.some((file) => file.trim() !== file || LINE_OR_CONTROL.test(file)))
    return 'A path has outer blanks or a control character, which the host may read in another way.'
  return [...new Set(files.map((file) => absolute(file, cwd).normalize()))]
}

const isText = (value: unknown): value is string => typeof value === 'string'

function absolute(file: string, cwd: unknown): string {
  const folder = typeof cwd === 'string' ? cwd : ''
  if (posix.isAbsolute(folder)) return posix.resolve(folder, file)
  return win32.isAbsolute(folder) ? win32.resolve(folder, file) : posix.normalize(file)
}

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
  // A name without a server or a tool is of no tool of the host either, whose rules would judge it.
  return readings.length > 0 && readings.every(({ tool }) => isName(tool))
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

/** The hook without the reason that Codex adds to the input of its own tools in a prompt; null if it has none. Pure. */
export function withoutReason(hook: ToolHook): ToolHook | null {
  const { tool_name: tool, tool_input: args } = hook
  if (tool.startsWith(PREFIX) || typeof args !== 'object' || args === null) return null
  const { description, ...tool_input } = args as Readonly<Record<string, unknown>>
  return description === undefined ? null : { ...hook, tool_input }
}

/** The question about a call: with another fact that rules can read, it is another question. Pure. */
export const questionOf = (key: string, call: HostCall): string => `${key}.${hash(call)}`

const hash = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url')

export const isToolHook = (hook: ToolHookInput): hook is ToolHook => hook.tool_name !== undefined
