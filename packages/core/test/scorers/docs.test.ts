import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { builtInScorers, describeScorer } from '../../src/scorers/catalogue.ts'
import { textParams } from '../../src/scorers/text.ts'

const whole = readFileSync(new URL('../../../../docs/scorers.md', import.meta.url), 'utf8')
/** Other packages check their own scorers. */
const [page = ''] = whole.split('## The judge')
const shared = new Set(['negate', 'extract', ...Object.keys(textParams)])

/** The paragraph that begins with the scorer's name, or with several of a family. */
const paragraphOf = (name: string) =>
  page.split('\n\n').find((text) => text.startsWith('**') && text.includes(`**\`${name}\`**`)) ?? ''

it.each(builtInScorers.map((scorer) => [scorer.name, scorer] as const))(
  'docs/scorers.md has %s, its threshold and its parameters',
  (name, scorer) => {
    const paragraph = paragraphOf(name)
    const names = Object.keys(describeScorer(scorer).params['properties'] as object)

    expect(paragraph).toContain(`[${scorer.defaultThreshold}]`)
    for (const param of names)
      expect(shared.has(param) ? page : paragraph, param).toContain(`\`${param}\``)
  },
)

it('docs/scorers.md has no scorer that is not there', () => {
  const named = [...page.matchAll(/^\*\*`.*$/gm)].flatMap(([line]) =>
    [...(line.split('. ')[0] ?? '').matchAll(/\*\*`(\w+)`\*\*/g)].map(([, name]) => name),
  )

  expect(new Set(named)).toEqual(new Set(builtInScorers.map(({ name }) => name)))
})
