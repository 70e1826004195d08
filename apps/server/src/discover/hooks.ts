import type { InventoryItem } from '@remit/contract'
import { isMembers, membersIn } from './finding.ts'
import type { ConfigFile, Members } from './finding.ts'
import type { Host } from './hosts.ts'
import { shownName } from './shown-name.ts'

type Hooked = NonNullable<Host['hooks']>

interface FoundHook {
  readonly event: string
  readonly matcher: unknown
  readonly hook: Members
}

/** The hooks of a file, one item for each event and kind. Pure. */
export const hookItems = (file: ConfigFile, host: Hooked): InventoryItem[] =>
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
export function ungovernedReason(files: readonly ConfigFile[], host: Hooked): string | null {
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
