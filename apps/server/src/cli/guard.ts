import { GuardRequest, GuardSource } from '@remit/contract'
import type { GuardAnswer } from '@remit/contract'
import { checkContent } from '@remit/core'
import type { Command } from 'commander'
import { choice, subcommand } from './command.ts'
import { EXIT } from './errors.ts'
import { readText } from './files.ts'
import type { Session } from './session.ts'
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

const HEADER = ['file', 'action', 'flagged', 'score', 'reasons', 'first at']

export function guardCommand(program: Command, session: Session): void {
  subcommand(program, 'guard [files...]', 'Check files, or standard input, for attacks and secrets')
    .addOption(
      choice('--source <source>', 'Who wrote the text', GuardSource.options).default('document'),
    )
    .addOption(
      choice('--sensitivity <level>', 'How sure the guard must be', [
        'low',
        'balanced',
        'high',
      ]).default('balanced'),
    )
    .addOption(
      choice('--fail-on <verdict>', 'Which verdict ends with exit code 1', [
        'block',
        'flag',
      ]).default('block'),
    )
    .action(async (files: readonly string[], options: GuardOptions) => {
      const texts =
        files.length === 0
          ? [{ file: '-', text: await readAll(session) }]
          : files.map((file) => ({ file, text: readText(file) }))
      const checked = texts.map(({ file, text }) => ({ file, text, answer: check(text, options) }))
      session.print(checked.map(toJson), table(HEADER, checked.map(toRow)))
      if (checked.some(({ answer }) => fails(answer, options))) session.exitCode = EXIT.failed
    })
}

const check = (content: string, { source, sensitivity }: GuardOptions): GuardAnswer =>
  checkContent(GuardRequest.parse({ content, source, sensitivity }))

const fails = ({ action, flagged }: GuardAnswer, { failOn }: GuardOptions): boolean =>
  action === 'block' || (failOn === 'flag' && flagged)

async function readAll({ io }: Session): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk as Buffer | string))
  return Buffer.concat(chunks).toString('utf8')
}

const toJson = ({ file, answer: { action, flagged, score, reasons, findings } }: CheckedFile) => ({
  file,
  action,
  flagged,
  score,
  reasons,
  findings,
})

function toRow({ file, text, answer }: CheckedFile): string[] {
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

/** As editors count: both from 1. */
function lineAndColumn(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
}
