import type { Problem } from '../problem.ts'
import { RemitError } from './error.ts'
import type { PlainResponse } from './types.ts'

const isJson = (type: string): boolean => /^application\/(?:json|.*\+json)$/.test(type)

const typeOf = ({ headers }: PlainResponse): string =>
  (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

const unexpected = (response: PlainResponse, what: string, cause?: unknown): RemitError => {
  const { status, headers } = response
  const message = `${status} ${what}, not an answer of Remit`
  return new RemitError({ code: 'unexpected_answer', message, status, headers, cause })
}

/** The error of an answer that is not a success; of a proxy, too. */
export async function refusalOf(response: PlainResponse): Promise<RemitError> {
  const { status, headers } = response
  const text = await response.text()
  const problem = isJson(typeOf(response)) ? problemOf(text) : null
  if (!problem) return unexpected(response, `with ${typeOf(response) || 'no media type'}`)
  return new RemitError({ code: problem.code, message: problem.detail, status, headers, problem })
}

function problemOf(text: string): Problem | null {
  try {
    const body = JSON.parse(text) as Partial<Problem> | null
    return typeof body?.code === 'string' ? (body as Problem) : null
  } catch {
    return null
  }
}

/**
 * The body of a success. `media` is the type that the endpoint has where that is not JSON, `*` where it
 * has several; throws `unexpected_answer` for another one.
 */
export async function dataOf(response: PlainResponse, media: string | undefined): Promise<unknown> {
  if (response.status === 204) return undefined
  const type = typeOf(response)
  const text = await response.text()
  if (isJson(type)) {
    try {
      return JSON.parse(text)
    } catch (error) {
      throw unexpected(response, 'with broken JSON', error)
    }
  }
  if (media === '*' || media === type) return text
  throw unexpected(response, `with ${type || 'no media type'}`)
}

/** The body of a stream of events; throws `unexpected_answer` for anything else. */
export async function streamOf(response: PlainResponse): Promise<ReadableStream<Uint8Array>> {
  const { body } = response
  if (typeOf(response) === 'text/event-stream' && body) return body
  // An unread body keeps its connection.
  await body?.cancel()
  throw unexpected(response, `with ${typeOf(response) || 'no media type'}`)
}
