import type { Client } from '@remit/contract/client'
import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'

/** Characters of one check, and checks of one result: the rest of a longer text is not checked. */
const CHUNK = 200_000
const MAX_CHUNKS = 5
const TIMEOUT_MS = 10_000

export interface Finding {
  readonly action: 'redact' | 'block'
  readonly reasons: readonly string[]
}

interface Checked {
  readonly client: Client
  readonly agentId: string | undefined
  readonly sessionId: string
}

/** All texts of a result in which an instruction could be hidden. */
export function textsOf({ content, contents, messages, structuredContent }: Members): string {
  const texts: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value)
    else if (Array.isArray(value)) value.forEach(visit)
    else if (isMembers(value))
      for (const [name, member] of Object.entries(value))
        // Images and sounds are in base64.
        if (name !== 'data' && name !== 'blob' && name !== 'mimeType' && name !== 'type')
          visit(member)
  }
  for (const part of [content, contents, messages]) visit(part)
  // Servers repeat the structured result as text; what they repeat is checked once.
  const said = texts.join('\n')
  if (isMembers(structuredContent) && !said.includes(JSON.stringify(structuredContent)))
    visit(structuredContent)
  return texts.join('\n')
}

/** Checks a text of a tool; the worst finding, or null. A text that cannot be checked is a finding. */
export async function checkText(text: string, checked: Checked): Promise<Finding | null> {
  let worst: Finding | null = null
  for (let at = 0; at < text.length && at < MAX_CHUNKS * CHUNK; at += CHUNK) {
    const found = await checkChunk(text.slice(at, at + CHUNK).toWellFormed(), checked)
    if (found?.action === 'block') return found
    worst = found ?? worst
  }
  return worst
}

async function checkChunk(
  content: string,
  { client, agentId, sessionId }: Checked,
): Promise<Finding | null> {
  try {
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
  } catch {
    return { action: 'block', reasons: ['unchecked'] }
  }
}
