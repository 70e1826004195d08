import { setImmediate } from 'node:timers/promises'
import { ResultToScore } from '@remit/contract'
import type { ScorersAnswer, Score } from '@remit/contract'
import { Failure } from '@remit/core/base'
import { builtInScorers, runScorer } from '@remit/core/scorers'
import type { Command } from 'commander'
import { StrictJsonError, parseStrictJson } from '@remit/contract/json'
import { subcommand } from './options.ts'
import { CliError, EXIT } from './errors.ts'
import { bytesOf, bytesOfInput, STANDARD_INPUT, readText } from './files.ts'
import { table, facts, printableLine, createProgress } from './table.ts'
import type { CommandRun } from './session.ts'

interface ScoreOptions {
  readonly scorer?: string
  readonly list?: true
  readonly params?: string
  readonly threshold?: string
  readonly failUnder?: string
  readonly maxErrors?: string
}

export function scoreCommand(program: Command, session: CommandRun): void {
  subcommand(program, 'score [file]', 'Score results, without a server or a database')
    .option('--scorer <name>', 'Name of the scorer')
    .option('--list', 'List the open scorers')
    .option('--params <json>', 'Parameters of the scorer as JSON; @file reads them from a file')
    .option('--threshold <share>', 'Lowest score that passes, 0 to 1')
    .option('--fail-under <share>', 'Exit with 1 if the mean is below this value, 0 to 1')
    .option('--max-errors <count>', 'Exit with 1 if more results than this have no score')
    .action(async (file: string | undefined, options: ScoreOptions) => {
      if (options.list) {
        session.print(SCORERS, table(['scorer', 'measures'], SCORERS.map(toRow)))
        return
      }
      const maxErrors = readCount('--max-errors', options.maxErrors)
      const failUnder = readShare('--fail-under', options.failUnder)
      const answer = await score(session, file, options)
      session.print(answer, describeScores(answer))
      const { mean, errors } = answer.aggregate
      if (errors > maxErrors) session.exitCode = EXIT.failed
      // No scored result is a failure too.
      if (failUnder !== undefined && (mean === null || mean < failUnder))
        session.exitCode = EXIT.failed
    })
}

async function score(
  session: CommandRun,
  file: string | undefined,
  { scorer: name, params, threshold }: ScoreOptions,
): Promise<ScorersAnswer> {
  const scorer = builtInScorers.find((one) => one.name === name)
  if (!scorer) throw new CliError(unknownScorer(name))
  const share = readShare('--threshold', threshold)
  const given = params === undefined ? {} : { params: readParams(params) }
  const { io } = session
  const results = await (file === undefined || file === '-'
    ? readResults(bytesOfInput(io), STANDARD_INPUT)
    : readResults(bytesOf(file), file))
  const progress = createProgress(
    io.stderr,
    (done) => `scored ${done} of ${results.length} results`,
  )
  const request = {
    scorer: scorer.name,
    results,
    ...given,
    ...(share !== undefined && { threshold: share }),
  }
  const never = new AbortController().signal
  try {
    return await runScorer(scorer, request, {
      now: () => performance.now(),
      pause: () => setImmediate(),
      caller: null,
      signal: () => never,
      // On the command line, the user can interrupt it.
      budgetMs: Number.POSITIVE_INFINITY,
      progress: (done) => progress.update(done),
    })
  } catch (error) {
    throw error instanceof Failure ? new CliError(error.message) : error
  } finally {
    progress.end()
  }
}

/** Name and description of every scorer that runs without a server. */
const SCORERS = builtInScorers.map(({ name, description }) => ({ name, description }))

const toRow = ({ name, description }: (typeof SCORERS)[number]): string[] => [name, description]

function unknownScorer(name: string | undefined): string {
  if (name === undefined) return '--scorer is required; `remit score --list` lists the scorers'
  if (name === 'llm_as_judge')
    return 'llm_as_judge requires a server of the enterprise edition with REMIT_JUDGES_FILE; use POST /v1/scorers'
  const names = SCORERS.map((one) => one.name).join(', ')
  return `The open scorer ${name} does not exist; the open scorers are ${names}`
}

/** Parses a number of results; without the option, there is no limit. */
function readCount(option: string, text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new CliError(`${option} must be a whole number from 0; given: ${text}`)
}

function readShare(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const share = Number(text)
  if (text.trim() !== '' && share >= 0 && share <= 1) return share
  throw new CliError(`${option} must be a number from 0 to 1; given: ${text}`)
}

const SHOWN = 20
const MAX_REASON = 100

/** Formats the statistics, and the first results that did not pass, for a person. */
function describeScores({
  scorer,
  scorer_version,
  threshold,
  scores,
  aggregate,
}: ScorersAnswer): string {
  const { count, scored, errors, mean, median, min, max } = aggregate
  const { mean_ci, pass_rate, pass_rate_ci, corpus_score } = aggregate
  const wanting = scores.filter(({ passed }) => passed !== true)
  return [
    facts({
      scorer: `${scorer}, version ${scorer_version}`,
      results: errors === 0 ? count : `${count}, ${errors} of them without a score`,
      ...(scored > 0 && {
        mean: `${number(mean)}${interval(mean_ci)}`,
        'median, least, most': [median, min, max].map(number).join(', '),
        [`passed, threshold ${threshold}`]: `${number(pass_rate)}${interval(pass_rate_ci)}`,
      }),
      ...(corpus_score !== null && { 'corpus score': number(corpus_score) }),
    }),
    wanting.length === 0 ? '' : `\nNot passed:\n${table(HEADER, wanting.slice(0, SHOWN).map(row))}`,
    wanting.length > SHOWN ? `and ${wanting.length - SHOWN} more\n` : '',
  ].join('')
}

const HEADER = ['#', 'ID', 'SCORE', 'REASON']

const row = ({ index, id, score: value, reason }: Score): string[] => [
  String(index + 1),
  id === null ? '-' : printable(id),
  number(value),
  printable(reason),
]

const number = (value: number | null): string =>
  value === null ? '-' : String(Math.round(value * 1e4) / 1e4)

const interval = (range: { readonly low: number; readonly high: number } | null): string =>
  range === null ? '' : ` (95 %: ${number(range.low)} to ${number(range.high)})`

/** Makes a line safe for a terminal. */
const printable = (text: string): string =>
  printableLine(text.replaceAll(/[\r\n\t]+/g, ' ')).slice(0, MAX_REASON)

const MAX_LINE_BYTES = 8 * 1024 * 1024
const LINE_FEED = 0x0a

/** Reads results from JSON Lines, one per line; empty lines are skipped. Errors have the name. */
async function readResults(bytes: AsyncIterable<Buffer>, name: string): Promise<ResultToScore[]> {
  const results: ResultToScore[] = []
  let lineNumber = 1
  try {
    for await (const line of linesOf(bytes)) {
      if (line.toString('latin1').trim() !== '') results.push(readResult(line))
      lineNumber++
    }
  } catch (error) {
    if (error instanceof Fault) throw new CliError(`${name}, line ${lineNumber}: ${error.message}`)
    throw error
  }
  if (results.length === 0) throw new CliError(`${name} contains no results`)
  return results
}

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
function readParams(text: string): Record<string, unknown> {
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
