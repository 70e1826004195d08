import { ResultToScore } from '@remit/contract'
import { StrictJsonError, parseStrictJson } from '@remit/contract/json'
import { CliError } from './errors.ts'
import { readText } from './files.ts'

const MAX_LINE_BYTES = 8 * 1024 * 1024
const LINE_FEED = 0x0a

/** Reads results from JSON Lines, one per line; empty lines are skipped. Errors have the name. */
export async function readResults(
  bytes: AsyncIterable<Buffer>,
  name: string,
): Promise<ResultToScore[]> {
  const results: ResultToScore[] = []
  let number = 1
  try {
    for await (const line of linesOf(bytes)) {
      if (line.toString('latin1').trim() !== '') results.push(readResult(line))
      number++
    }
  } catch (error) {
    if (error instanceof Fault) throw new CliError(`${name}, line ${number}: ${error.message}`)
    throw error
  }
  if (results.length === 0) throw new CliError(`${name} contains no results`)
  return results
}

/** The error of a line. */
class Fault extends Error {}

function readResult(line: Buffer): ResultToScore {
  const parsed = ResultToScore.safeParse(readJson(line))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.join('.') ?? ''
  throw new Fault(
    path === '' ? (issue?.message ?? 'is not a result') : `${path}: ${issue?.message}`,
  )
}

function readJson(line: Uint8Array): unknown {
  try {
    return parseStrictJson(line)
  } catch (error) {
    if (error instanceof StrictJsonError) throw new Fault(error.reason)
    throw error
  }
}

async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  const take = (part: Buffer) => {
    length += part.length
    if (length > MAX_LINE_BYTES) throw new Fault('is longer than 8 MiB')
    parts.push(part)
  }
  const line = () => {
    const whole = Buffer.concat(parts)
    parts = []
    length = 0
    return whole
  }
  for await (const chunk of source) {
    let from = 0
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      take(chunk.subarray(from, at))
      yield line()
      from = at + 1
    }
    take(chunk.subarray(from))
  }
  if (length > 0) yield line()
}

/** Parses the parameters: JSON, or `@` and the name of a JSON file. */
export function readParams(text: string): Record<string, unknown> {
  if (text === '@') throw new CliError('The path --params @ is empty')
  const json = text.startsWith('@') ? readText(text.slice(1)) : text
  try {
    const params = parseStrictJson(Buffer.from(json))
    if (!Array.isArray(params)) return params as Record<string, unknown>
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    throw new CliError(`--params: ${error.reason}`)
  }
  throw new CliError('--params must be a JSON object')
}
