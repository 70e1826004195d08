import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PROBLEMS } from './problem.ts'

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
const documented = [...page.matchAll(/^- `(\w+)` \((\d{3})\): (.+)/gm)].map(
  ([, code, status, when]) => ({
    code,
    status: Number(status),
    when,
  }),
)

describe('docs/errors.md', () => {
  it('describes every code, with its status, in the order of the table, and no other', () => {
    const codes = Object.entries(PROBLEMS).map(([code, [status]]) => ({ code, status }))

    expect(documented.map(({ code, status }) => ({ code, status }))).toEqual(codes)
  })

  it('says of each when it is answered', () => {
    expect(documented.filter(({ when }) => !when?.trim())).toEqual([])
  })
})

describe('PROBLEMS', () => {
  const all = Object.entries(PROBLEMS)

  it('has a title of its own for every code', () => {
    expect(new Set(all.map(([, [, title]]) => title)).size).toBe(all.length)
  })

  it('has statuses of refusals only', () => {
    expect(all.filter(([, [status]]) => status < 400 || status > 599)).toEqual([])
  })
})
