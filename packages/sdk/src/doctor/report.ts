import { spellOut } from '@remit/contract/fit'
import type { Enforcement, Finding } from './examine.ts'

export interface Examination {
  readonly server: string
  readonly folder: string
  readonly findings: readonly Finding[]
  /** Frameworks that are declared, but that no source imports. */
  readonly unused: readonly string[]
}

const WORDS: Readonly<Record<Enforcement, string>> = {
  enforced: 'enforced',
  enforced_while_the_hook_runs: 'enforced while the hook runs',
  not_enforced: 'not enforced',
  not_tested: 'not tested',
}

export function describe({ server, folder, findings, unused }: Examination): string {
  const titles = findings.map(titleOf)
  const width = Math.max(0, ...titles.map((title) => title.length))
  const lines = findings.flatMap(({ enforcement, detail }, index) => [
    `${(titles[index] ?? '').padEnd(width)}  ${WORDS[enforcement]}`,
    ...(detail === '' ? [] : [`  ${detail}`]),
  ])
  const rest = unused.length === 0 ? [] : ['', `imported by no file: ${unused.join(', ')}`]
  return (
    [`${folder}, with the server at ${server}`, '', ...lines, ...rest, '']
      // Texts of frameworks must not steer the terminal.
      .map((line) => spellOut(line, { keep: '\n' }))
      .join('\n')
  )
}

const titleOf = ({ framework, package: name, version }: Finding): string =>
  `${framework} (${name}${version === null ? '' : ` ${version}`})`
