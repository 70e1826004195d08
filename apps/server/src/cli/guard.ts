import { GuardRequest, GuardSource } from '@remit/contract'
import type { GuardAnswer } from '@remit/contract'
import { inspectContent } from '@remit/core/guard'
import type { Command } from 'commander'
import { choice, subcommand } from './options.ts'
import { CliError, EXIT } from './errors.ts'
import { bytesOfInput, readText, STANDARD_INPUT } from './files.ts'
import type { CommandRun } from './session.ts'
import { table } from './table.ts'

interface GuardOptions {
  readonly source: GuardSource
  readonly sensitivity: GuardRequest['sensitivity']
  readonly failOn: 'block' | 'flag'
}

interface CheckedFile {
  readonly file: string
  readonly text: string
  readonly answer: GuardAnswer
}

/** A file that could not be read, with the reason. */
interface UnreadFile {
  readonly file: string
  readonly error: string
}

type Outcome = CheckedFile | UnreadFile

/** Checking this much takes seconds. */
const MAX_MIB = 8

const HEADER = ['file', 'action', 'flagged', 'score', 'reasons', 'first at']

export function guardCommand(program: Command, session: CommandRun): void {
  subcommand(program, 'guard [files...]', 'Check files, or standard input, for attacks and secrets')
    .addOption(
      choice('--source <source>', 'Author of the text', GuardSource.options).default('document'),
    )
    .addOption(
      choice('--sensitivity <level>', 'Sensitivity of the guard', [
        'low',
        'balanced',
        'high',
      ]).default('balanced'),
    )
    .addOption(
      choice('--fail-on <verdict>', 'Lowest verdict that causes exit code 1', [
        'block',
        'flag',
      ]).default('block'),
    )
    .action(async (files: readonly string[], options: GuardOptions) => {
      const checkOne = (file: string, text: string) => ({
        file,
        text,
        answer: check(text, options),
      })
      const outcomes: Outcome[] =
        files.length === 0
          ? [checkOne('-', await readInput(session))]
          : files.map((file) => reading(file, (text) => checkOne(file, text)))
      session.print(outcomes.map(toJson), table(HEADER, outcomes.map(toRow)))
      if (outcomes.some((one) => 'answer' in one && fails(one.answer, options)))
        session.exitCode = EXIT.failed
      for (const one of outcomes) if ('error' in one) session.warn(one.error)
      // An incomplete check has precedence over a verdict.
      if (outcomes.some((one) => 'error' in one)) session.exitCode = EXIT.couldNotRun
    })
}

function reading(file: string, work: (text: string) => CheckedFile): Outcome {
  try {
    return work(readText(file, MAX_MIB))
  } catch (error) {
    if (error instanceof CliError) return { file, error: error.message }
    throw error
  }
}

const check = (content: string, { source, sensitivity }: GuardOptions): GuardAnswer =>
  inspectContent(GuardRequest.parse({ content, source, sensitivity }))

const fails = ({ action, flagged }: GuardAnswer, { failOn }: GuardOptions): boolean =>
  action === 'block' || (failOn === 'flag' && flagged)

async function readInput({ io }: CommandRun): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of bytesOfInput(io)) {
    chunks.push(chunk)
    length += chunk.length
    if (length > MAX_MIB * 2 ** 20)
      throw new CliError(`${STANDARD_INPUT} cannot be read: it is larger than ${MAX_MIB} MiB`)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function toJson(outcome: Outcome) {
  if ('error' in outcome) return outcome
  const { action, flagged, score, reasons, findings } = outcome.answer
  return { file: outcome.file, action, flagged, score, reasons, findings }
}

function toRow(outcome: Outcome): string[] {
  if ('error' in outcome) return [outcome.file, 'error', '', '', outcome.error, '']
  const { file, text, answer } = outcome
  const { action, flagged, score, reasons, findings } = answer
  const [first] = findings
  return [
    file,
    action,
    flagged ? 'yes' : 'no',
    score.toFixed(2),
    reasons.join(', '),
    first && flagged ? lineAndColumn(text, first.start) : '',
  ]
}

/** Line and column as in editors: both from 1. */
function lineAndColumn(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
}
