import { createReadStream } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { ScorersAnswer } from '@remit/contract'
import { Failure, builtInScorers, runScorer } from '@remit/core'
import type { Command } from 'commander'
import { subcommand } from './command.ts'
import { CliError, EXIT } from './errors.ts'
import { createProgress } from './progress.ts'
import { readParams, readResults } from './score-input.ts'
import { describeScores } from './score-report.ts'
import type { Session } from './session.ts'

interface ScoreOptions {
  readonly scorer: string
  readonly params?: string
  readonly threshold?: string
  readonly failUnder?: string
}

export function scoreCommand(program: Command, session: Session): void {
  subcommand(program, 'score [file]', 'Score results, without a server or a database')
    .requiredOption('--scorer <name>', 'One of the open scorers')
    .option('--params <json>', 'Its parameters as JSON; @file reads them from a file')
    .option('--threshold <share>', 'A result passes from here on, 0 to 1')
    .option('--fail-under <share>', 'End with 1 when the mean is below, 0 to 1')
    .action(async (file: string | undefined, options: ScoreOptions) => {
      const failUnder = readShare('--fail-under', options.failUnder)
      const answer = await score(session, file, options)
      session.print(answer, describeScores(answer))
      const { mean } = answer.aggregate
      // Nothing scored is no success either.
      if (failUnder !== undefined && (mean === null || mean < failUnder))
        session.exitCode = EXIT.failed
    })
}

async function score(
  session: Session,
  file: string | undefined,
  { scorer: name, params, threshold }: ScoreOptions,
): Promise<ScorersAnswer> {
  const scorer = builtInScorers.find((one) => one.name === name)
  if (!scorer) {
    const names = builtInScorers.map((one) => one.name).join(', ')
    throw new CliError(`There is no open scorer ${name}; there are ${names}`)
  }
  const share = readShare('--threshold', threshold)
  const given = params === undefined ? {} : { params: readParams(params) }
  const { stdin, stderr } = session.io
  const source = file === undefined || file === '-' ? stdin : createReadStream(file)
  const results = await readResults(source, file ?? '-')
  const progress = createProgress(stderr, (done) => `scored ${done} of ${results.length} results`)
  const request = {
    scorer: name,
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
      // Who waits can end it himself.
      budgetMs: Number.POSITIVE_INFINITY,
      progress: (done) => progress.update(done),
    })
  } catch (error) {
    throw error instanceof Failure ? new CliError(error.message) : error
  } finally {
    progress.end()
  }
}

function readShare(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const share = Number(text)
  if (text.trim() !== '' && share >= 0 && share <= 1) return share
  throw new CliError(`${option} must be a number from 0 to 1; given: ${text}`)
}
