import type { Client } from '@remit/contract/client'
import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'

/** Characters of one check, and of all checks of one result. */
const CHUNK = 200_000
const MAX_CHECKED = 1_000_000
const TIMEOUT_MS = 10_000

interface Finding {
  readonly action: 'redact' | 'block'
  readonly reasons: readonly string[]
}

const UNCHECKED: Finding = { action: 'block', reasons: ['unchecked'] }

interface CheckRequest {
  readonly client: Client
  readonly agentId: string | undefined
  readonly sessionId: string
  readonly warn: (message: string) => void
}

/** All texts of a result in which an instruction could be hidden. Pure. */
export function textsOf({ content, contents, messages, structuredContent }: Members): string {
  const texts = [content, contents, messages].flatMap((part) => textsIn(part, isSeen))
  // Servers repeat the structured result as text; what they repeat is checked once.
  const isRepeated = () => texts.join('\n').includes(JSON.stringify(structuredContent))
  if (!isMembers(structuredContent) || isRepeated()) return texts.join('\n')
  return [...texts, ...textsIn(structuredContent), ...namesIn(structuredContent)].join('\n')
}

export const textsOfError = ({ message, data }: Members): string =>
  [...textsIn(message), ...textsIn(data), ...namesIn(data)].join('\n')

/** Instructions of a server, which hosts give to the model, and the results of its tasks. Pure. */
export function textsOfOther(method: string, result: Members): string {
  const { instructions, result: inner, error, statusMessage } = result
  switch (method) {
    case 'initialize':
    case 'server/discover':
      return textsIn(instructions).join('')
    case 'tasks/result':
      return textsOf(result)
    case 'tasks/get':
    case 'tasks/cancel':
      return [
        isMembers(inner) ? textsOf(inner) : '',
        isMembers(error) ? textsOfError(error) : '',
        ...textsIn(statusMessage),
      ].join('\n')
    default:
      return ''
  }
}

type Filter = (name: string, outer: Members) => boolean

/** Images and sounds are in base64. */
const isSeen: Filter = (name, { type }) =>
  name === 'data'
    ? type !== 'image' && type !== 'audio'
    : !['blob', 'mimeType', 'type'].includes(name)

function textsIn(value: unknown, isWanted: Filter = () => true): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap((one) => textsIn(one, isWanted))
  if (!isMembers(value)) return []
  return Object.entries(value).flatMap(([name, member]) =>
    isWanted(name, value) ? textsIn(member, isWanted) : [],
  )
}

/** A name of a member can be a sentence too. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn)
  if (!isMembers(value)) return []
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)])
}

/**
 * Checks a text of a tool; the worst finding, or null. A text that cannot be read or checked is a
 * finding.
 */
export async function checkText(
  textOf: () => string,
  checked: CheckRequest,
): Promise<Finding | null> {
  try {
    const text = textOf()
    return text.trim() === '' ? null : await checkChunks(text, checked)
  } catch (error) {
    checked.warn(`the guard could not check a result: ${String(error)}`)
    return UNCHECKED
  }
}

async function checkChunks(text: string, checked: CheckRequest): Promise<Finding | null> {
  const read = text.slice(0, MAX_CHECKED)
  let worst: Finding | null = null
  for (let at = 0; at < read.length; at += CHUNK) {
    const found = await checkChunk(read.slice(at, at + CHUNK).toWellFormed(), checked)
    if (found?.action === 'block') return found
    worst = found ?? worst
  }
  return text.length > read.length ? UNCHECKED : worst
}

async function checkChunk(
  content: string,
  { client, agentId, sessionId }: CheckRequest,
): Promise<Finding | null> {
  const { action, reasons } = await client.checkContent({
    body: {
      content,
      source: 'tool',
      session_id: sessionId,
      ...(agentId !== undefined && { agent_id: agentId }),
    },
    timeoutMs: TIMEOUT_MS,
  })
  return action === 'allow' ? null : { action, reasons }
}

const MAX_REASONS = 32

/** The findings in results of a session, as later decisions of the session see them. */
export class SessionFindings {
  readonly #reasons = new Set<string>()
  #open: Promise<unknown> = Promise.resolve()

  /** Adds the finding of a check that runs; the next decision waits for it. */
  add(check: Promise<Finding | null>): Promise<Finding | null> {
    const noted = check.then((finding) => {
      for (const reason of finding?.reasons ?? [])
        if (this.#reasons.size < MAX_REASONS) this.#reasons.add(reason)
      return finding
    })
    // Its value would hold all earlier ones.
    this.#open = Promise.all([this.#open, noted]).then(() => undefined)
    return noted
  }

  /** The facts for `context.guard`, once all results that the client has are checked. */
  async facts(): Promise<{ flagged: boolean; reasons: string[] }> {
    await this.#open
    return { flagged: this.#reasons.size > 0, reasons: [...this.#reasons].toSorted() }
  }
}
