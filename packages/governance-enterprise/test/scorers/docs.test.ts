import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { describe, expect, it } from 'vitest'
import { JUDGE_FAILURES } from '../../src/scorers/judge/post.ts'
import { DailySettings, JudgeSettings, NO_JUDGES } from '../../src/scorers/judge/judges.ts'
import { judgeParams } from '../../src/scorers/judge/params.ts'

const text = readFileSync(resolve(import.meta.dirname, '../../../../docs/judge.md'), 'utf8')

/** Names that begin the items of a section's list. */
function names(heading: string): string[] {
  const [, rest = ''] = text.split(`\n${heading}\n`)
  const [section = ''] = rest.split('\n## ')
  return [...section.matchAll(/^- ((?:`[^`]*`(?:, )?)+)/gm)].flatMap(([, cell = '']) =>
    cell.split(', ').map((name) => name.replaceAll('`', '')),
  )
}

describe('docs/judge.md', () => {
  it('has every field of the file, and no others', () => {
    expect(new Set(names('## Judges'))).toEqual(new Set(Object.keys(JudgeSettings.shape)))
  })

  it('has every daily limit, and no others', () => {
    expect(new Set(names('## The daily limit'))).toEqual(new Set(Object.keys(DailySettings.shape)))
  })

  it('has every parameter, and no others', () => {
    const { properties = {} } = z.toJSONSchema(judgeParams(NO_JUDGES), { io: 'input' })

    expect(new Set(names('## Parameters'))).toEqual(new Set(Object.keys(properties)))
  })

  it('has every code of a failure, and no others', () => {
    expect(new Set(names('## Results'))).toEqual(new Set([...JUDGE_FAILURES, 'dry_run']))
  })
})
