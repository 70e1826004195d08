import { checkedAnswer } from './answers.ts'
import type { HookOptions } from './run.ts'

/** The answer of the server to a hook, as the host reads it; null for silence. Throws the reason of a failure. */
export async function askServer(
  { url, key, agentId, seconds }: HookOptions,
  { event, input }: { readonly event: string; readonly input: string },
  signal: AbortSignal,
): Promise<string | null> {
  const target = new URL('/v1/hooks/codex', url)
  target.searchParams.set('timeout', String(seconds))
  // The silence of another server must not pass for an allow.
  target.searchParams.set('allow', 'true')
  if (agentId !== undefined) target.searchParams.set('agent_id', agentId)
  const response = await fetch(target, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: input,
    redirect: 'error',
    signal,
  }).catch((error: unknown) => {
    throw new Error(reasonOf(error, url, signal), { cause: error })
  })
  const text = await response.text()
  if (response.status !== 200)
    throw new Error(`the server at ${url} answers ${response.status}${detailOf(text)}`)
  return checkedAnswer(event, text)
}

function reasonOf(error: unknown, url: string, signal: AbortSignal): string {
  if (signal.aborted) return `the server at ${url} did not answer in time`
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return `no server answers at ${url} (${cause instanceof Error ? cause.message : String(cause)})`
}

/** The reason in a problem document. */
function detailOf(text: string): string {
  try {
    const { detail, title } = JSON.parse(text) as { detail?: string; title?: string }
    const reason = detail ?? title
    return reason === undefined ? '' : `: ${reason}`
  } catch {
    return ''
  }
}
