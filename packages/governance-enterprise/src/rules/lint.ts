import { AddressError, normalAddress } from '@remit/contract/address'
import type { ConditionWarnings } from './condition-warnings.ts'
import type { Rule } from './rule-index.ts'

/** Warnings about probable mistakes in a rule; the rule is accepted. */
export function ruleWarnings(
  rule: Omit<Rule, 'id'>,
  effect: keyof ConditionWarnings,
  now: number,
): string[] {
  return [
    ...patternWarnings(rule),
    ...(rule.expiresAt !== null && rule.expiresAt <= now ? ['the rule has already expired'] : []),
    ...(rule.condition?.warnings[effect] ?? []),
  ]
}

type Patterns = Pick<Rule, 'agents' | 'actions' | 'resources'>

/** Warnings about patterns that no request of hooks, gateway or SDK matches, and about their case. */
export function patternWarnings({ agents, actions, resources }: Patterns): string[] {
  const better = new Map([
    ...actions.map((action) => [action, betterAction(action)] as const),
    ...resources.map((resource) => [resource, betterResource(resource, actions)] as const),
  ])
  return [...new Set([...agents, ...actions, ...resources])].flatMap((pattern) => {
    const instead = better.get(pattern) ?? null
    if (instead !== null)
      return [`the pattern ${pattern} probably never matches a request: ${instead}`]
    if (pattern === pattern.toLowerCase() || OF_OTHERS.test(pattern)) return []
    return [`the pattern ${pattern} has uppercase letters; patterns are case-sensitive`]
  })
}

/** Actions of hooks and gateway. */
const ACTIONS = ['tools/call', 'resources/read', 'prompts/get', 'litellm.request']
/** The type of the resource of such an action. */
const TYPES: Readonly<Record<string, string>> = {
  'tools/call': 'tool',
  'resources/read': 'resource',
  'prompts/get': 'prompt',
}
/** Tools of agent hosts that a capital letter alone does not name. */
const TOOLS =
  'AskUserQuestion Bash BashOutput EnterPlanMode ExitPlanMode KillShell MultiEdit NotebookEdit NotebookRead SlashCommand TodoRead TodoWrite ToolSearch WebFetch WebSearch apply_patch'.split(
    ' ',
  )

/** Names that hosts and servers choose. */
const OF_OTHERS = /^(?:(?:claude|codex)\.[A-Z*]|(?:tool|resource|prompt):)/
const HOST_TOOL = /^(?:claude|codex)\.[A-Z*]/
const HOST = /^(claude|codex)(?:[-_ ]?code)?\.(.+)$/i
const JOINED = /^mcp__(.*)$/s

/** The action to write in place of one that does not occur; null if it may. */
function betterAction(action: string): string | null {
  const known = ACTIONS.find((one) => one === action.toLowerCase().replace(/^(\w+s)\./, '$1/'))
  if (known !== undefined) return known === action ? null : `write ${known}`
  const [, type, id] = /^(tool|resource|prompt):(.+)$/i.exec(action) ?? []
  const of = ACTIONS.find((one) => TYPES[one] === type?.toLowerCase())
  if (type !== undefined && of !== undefined)
    return `write the action ${of} and the resource ${TYPES[of]}:${toolOf(id ?? '')}`
  const [, host = '', tool = ''] = HOST.exec(action) ?? []
  if (tool === '') return null
  if (JOINED.test(tool) && /__|\*/.test(tool.slice('mcp__'.length)))
    return `tools of MCP servers have the action tools/call and the resource tool:${toolOf(tool)}`
  const name = `${host.toLowerCase()}.${toolNamed(tool, host.toLowerCase() === 'claude')}`
  return name === action ? null : `write ${name}`
}

/** The resource to write in place of one that does not occur with these actions; null if it may. */
function betterResource(resource: string, actions: readonly string[]): string | null {
  if (/^\*+$/.test(resource)) return null
  if (actions.every((action) => HOST_TOOL.test(action)))
    return 'tools of a host have no resource, which only * matches'
  const [, type = '', id = ''] = /^(tool|resource|prompt):(.+)$/i.exec(resource) ?? []
  if (type.toLowerCase() === 'tool' && JOINED.test(id)) return `write tool:${toolOf(id)}`
  if (type !== type.toLowerCase()) return `write ${type.toLowerCase()}:${id}`
  const spelled = type === 'resource' ? betterAddress(id) : null
  if (spelled !== null) return spelled
  const types = actions.map((action) => TYPES[action])
  const [only] = types
  if (only === undefined || types.includes(undefined)) return null
  const isBare = !resource.includes(':') && !resource.includes('*')
  const isOther = type !== '' && !types.includes(type)
  return isBare || isOther ? `write ${only}:${toolOf(id === '' ? resource : id)}` : null
}

/** The advice for an address that is not in the form in which rules see it; null where it is. */
function betterAddress(pattern: string): string | null {
  const [head = ''] = pattern.split('*', 1)
  const isWhole = head === pattern
  try {
    // A letter in place of the rest, which keeps the last slash.
    const normal = normalAddress(isWhole ? head : `${head}x`)
    const better = isWhole ? normal : `${normal.slice(0, -1)}${pattern.slice(head.length)}`
    return better === pattern ? null : `write resource:${better}`
  } catch (error) {
    if (!(error instanceof AddressError)) throw error
    return isWhole && /^[a-z][a-z0-9+.-]*:/i.test(pattern) ? `the address ${error.message}` : null
  }
}

/** The tool of a name that hosts join from server and tool. */
function toolOf(name: string): string {
  const joined = JOINED.exec(name)?.[1]
  if (joined === undefined) return name
  const at = joined.indexOf('__', 1)
  return at === -1 ? '*' : joined.slice(at + 2) || '*'
}

function toolNamed(tool: string, isCapital: boolean): string {
  const known = TOOLS.find((one) => one.toLowerCase() === tool.toLowerCase())
  if (known !== undefined) return known
  return isCapital ? tool.charAt(0).toUpperCase() + tool.slice(1) : tool
}
