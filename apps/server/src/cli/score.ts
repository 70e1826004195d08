import { setImmediate } from 'node:timers/promises'
import type { ScorersAnswer } from '@remit/contract'
import { Failure } from '@remit/core/base'
import { builtInScorers, runScorer } from '@remit/core/scorers'
import type { Command } from 'commander'
import { subcommand } from './command.ts'
import { CliError, EXIT } from './errors.ts'
import { bytesOf, bytesOfInput, STANDARD_INPUT } from './files.ts'
import { table } from './table.ts'
import { createProgress } from './progress.ts'
import { readParams, readResults } from './score-input.ts'
import { describeScores } from './score-report.ts'
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
