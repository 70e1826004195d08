import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { GuardRequest } from '@remit/contract'
import { describe, expect, it } from 'vitest'
import { checkContent } from './guard.ts'

// The development half of the project's corpus, read beside the repository and never copied into it.
const corpus = new URL('../../../../../shared/data/guard/dev.jsonl.gz', import.meta.url)

interface Row {
  readonly text: string
  readonly label: 0 | 1
  readonly category: string
  readonly ctx: 'user' | 'document' | 'tool' | 'system'
}

const rows = (): Row[] =>
  gunzipSync(readFileSync(corpus))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)

describe.skipIf(!existsSync(corpus))('on the development corpus (shared/data/guard)', () => {
  it('flags at most 3.5 % of harmless texts and at least 72 % of attacks', () => {
    const share = { harmless: [0, 0], attack: [0, 0] }
    for (const { text, label, ctx } of rows()) {
      // Real system prompts say "never reveal"; they are read by other rules.
      if (ctx === 'system') continue
      const counts = label === 1 ? share.attack : share.harmless
      const request = { content: text, source: ctx, checks: ['injection', 'invisible'] }
      if (checkContent(GuardRequest.parse(request)).flagged) counts[0]!++
      counts[1]!++
    }

    expect(share.harmless[1]).toBeGreaterThan(1_900)
    expect(share.harmless[0]! / share.harmless[1]!).toBeLessThan(0.035)
    expect(share.attack[0]! / share.attack[1]!).toBeGreaterThan(0.72)
  })

  it('never blocks a real system prompt', () => {
    const prompts = rows().filter(({ ctx }) => ctx === 'system')
    const blocked = prompts.filter(({ text }) => {
      const request = GuardRequest.parse({ content: text, source: 'system' })
      return checkContent(request).action === 'block'
    })

    expect(prompts.length).toBeGreaterThan(100)
    expect(blocked).toEqual([])
  })
})
