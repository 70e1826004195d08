import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { ScorersAnswer } from '@remit/contract'
import { builtInScorers } from '@remit/core/scorers'
import { describe, expect, test } from 'vitest'
import { cli } from './support/cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-score-'))
function fileOf(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const lines = (...results: object[]) => results.map((one) => `${JSON.stringify(one)}\n`).join('')
const two = lines(
  { id: 'good', output: 'abcd', expected: 'abcd' },
  { output: 'abcd', expected: 'wxyz' },
)

// No setting is there: neither a database nor a license is looked for.
const run = (args: readonly string[], stdin?: string) =>
  cli(['score', ...args], {}, stdin === undefined ? {} : { stdin })

describe('remit score', () => {
  test('scores the lines of a file as the API would', async () => {
    const file = fileOf('two.jsonl', two)
    const { code, stdout } = await run([file, '--scorer', 'levenshtein', '--json'])
    const answer = ScorersAnswer.parse(JSON.parse(stdout))

    expect(code).toBe(0)
    expect(answer.scores.map(({ id, score }) => [id, score])).toEqual([
      ['good', 1],
      [null, 0],
    ])
    expect(answer.aggregate).toMatchObject({ count: 2, mean: 0.5 })
  })

  test('tells a person the numbers and what did not pass', async () => {
    const { stdout } = await run(
      ['--scorer', 'levenshtein', '--threshold', '0.9'],
      `${two}\n{"id":"x\\u001b[2J"}\n`,
    )

    expect(stdout).toBe(
      [
        'scorer:                levenshtein, version 1',
        'results:               3, 1 of them without a score',
        'mean:                  0.5 (95 %: 0 to 1)',
        'median, least, most:   0.5, 0, 1',
        'passed, threshold 0.9: 0.5 (95 %: 0.0945 to 0.9055)',
        '',
        'Not passed:',
        '#  ID          SCORE  REASON',
        '2  -           0      similarity 0 < 0.9',
        String.raw`3  x\u{1b}[2J  -      output is missing`,
        '',
      ].join('\n'),
    )
  })

  test('reads standard input, also without a line end, and more results than a request takes', async () => {
    const many = Array.from({ length: 2_500 }, (_, at) => ({ output: at, expected: at }))
    const { stdout } = await run(
      ['-', '--scorer', 'exact_match', '--json'],
      lines(...many).trimEnd(),
    )

    expect(ScorersAnswer.parse(JSON.parse(stdout)).aggregate).toMatchObject({
      count: 2_500,
      mean: 1,
    })
  })

  test('takes parameters as JSON or from a file', async () => {
    const params = fileOf('params.json', '{"pattern":"^ab"}')
    const input = lines({ output: 'abc' })

    for (const given of ['{"pattern":"^ab"}', `@${params}`]) {
      const { stdout } = await run(['--scorer', 'regex_match', '--params', given, '--json'], input)
      expect(ScorersAnswer.parse(JSON.parse(stdout)).aggregate.mean).toBe(1)
    }
  })

  test('ends with 1 below --fail-under, and when nothing could be scored', async () => {
    const under = async (share: string, input: string) =>
      (await run(['--scorer', 'levenshtein', '--fail-under', share], input)).code

    expect(await under('0.5', two)).toBe(0)
    expect(await under('0.51', two)).toBe(1)
    expect(await under('0', lines({}))).toBe(1)
    expect((await run(['--scorer', 'levenshtein'], lines({}))).code).toBe(0)
  })

  test('ends with 1 when more results could not be scored than --max-errors', async () => {
    const broken = `${two}{}\n{}\n`
    const allowing = async (count: string) =>
      (await run(['--scorer', 'levenshtein', '--max-errors', count], broken)).code

    expect(await allowing('2')).toBe(0)
    expect(await allowing('1')).toBe(1)
    expect(await allowing('0')).toBe(1)
    expect((await run(['--scorer', 'levenshtein'], broken)).code).toBe(0)
  })

  test('lists the scorers that need no server', async () => {
    const { code, stdout } = await run(['--list'])
    const listed = JSON.parse((await run(['--list', '--json'])).stdout) as { name: string }[]

    expect(code).toBe(0)
    expect(listed.map(({ name }) => name)).toEqual(builtInScorers.map(({ name }) => name))
    const shown = stdout.split('\n').map((line) => line.split(/ {2,}/))
    expect(shown).toEqual(
      expect.arrayContaining(builtInScorers.map(({ name, description }) => [name, description])),
    )
  })

  test('finds a relative path from where pnpm was called', async () => {
    fileOf('relative.jsonl', two)
    const root = resolve(import.meta.dirname, '../../..')
    const args = ['--silent', '--dir', root, 'remit', 'score', 'relative.jsonl', '--scorer', 'bleu']
    const { INIT_CWD: _, ...env } = process.env

    const { stdout } = await promisify(execFile)('pnpm', [...args, '--json'], { cwd: folder, env })

    expect(ScorersAnswer.parse(JSON.parse(stdout)).aggregate).toMatchObject({ count: 2 })
  })

  test.each([
    [
      'an unknown scorer',
      ['--scorer', 'blue'],
      two,
      'The open scorer blue does not exist; the open scorers are bleu,',
    ],
    [
      'the scorer that asks a model',
      ['--scorer', 'llm_as_judge'],
      two,
      'llm_as_judge requires a server of the enterprise edition',
    ],
    [
      'a count of errors that is none',
      ['--scorer', 'bleu', '--max-errors', '-1'],
      two,
      '--max-errors must be a whole number from 0; given: -1',
    ],
    [
      'a wrong threshold',
      ['--scorer', 'bleu', '--threshold', '1.5'],
      two,
      '--threshold must be a number from 0 to 1; given: 1.5',
    ],
    [
      'a threshold that is no number',
      ['--scorer', 'bleu', '--fail-under', ''],
      two,
      '--fail-under must be a number',
    ],
    [
      'wrong parameters',
      ['--scorer', 'bleu', '--params', '{"x":1}'],
      two,
      'params.x: is not a parameter of bleu',
    ],
    [
      'a pattern that cannot be used',
      ['--scorer', 'regex_match', '--params', '{"pattern":"("}'],
      two,
      'params.pattern: cannot be used',
    ],
    ['parameters that are no JSON', ['--scorer', 'bleu', '--params', '{'], two, '--params: '],
    [
      'parameters that are no object',
      ['--scorer', 'bleu', '--params', '[]'],
      two,
      '--params must be a JSON object',
    ],
    [
      'a file that is not there',
      ['none.jsonl', '--scorer', 'bleu'],
      '',
      'none.jsonl cannot be read: no such file or directory',
    ],
    [
      'a line that is too long',
      ['--scorer', 'bleu'],
      'x'.repeat(8 * 2 ** 20 + 1),
      'standard input, line 1: is longer than 8 MiB',
    ],
    [
      'a later line that is too long',
      ['--scorer', 'bleu'],
      `${two}\n${'x'.repeat(8 * 2 ** 20 + 1)}`,
      'standard input, line 4: is longer than 8 MiB',
    ],
    ['a line that is no JSON', ['--scorer', 'bleu'], `${two}{\n`, 'standard input, line 3: '],
    ['a line that is no result', ['--scorer', 'bleu'], '{"outputs":1}', 'standard input, line 1: '],
    [
      'a line with a name twice',
      ['--scorer', 'bleu'],
      '{"output":1,"output":2}',
      'line 1: The name "output" appears twice',
    ],
    ['no results', ['--scorer', 'bleu'], '\n \n', 'standard input contains no results'],
    ['no scorer', [], two, '--scorer is required; `remit score --list` lists the scorers'],
  ])('ends with 2 for %s, and says why in one line', async (_, args, input, message) => {
    const { code, stdout, stderr } = await run(args, input)

    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(stderr.trimEnd()).not.toContain('\n')
  })
})
