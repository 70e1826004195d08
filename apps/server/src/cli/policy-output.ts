/** Plans and tests of policy sets as text, Markdown and JUnit XML. */
import type {
  Drift,
  ObjectChange,
  PlanReplay,
  PolicyDocument,
  PolicySetPlan,
  PropertyResult,
  TestCase,
  TestResult,
  TestSummary,
} from '@remit/contract'
import type { Imported } from './policy-import.ts'
import { printableLine } from './table.ts'

const SIGNS = { create: '+', replace: '~', delete: '-', adopt: '=', release: 'o' } as const

/** A plan for the terminal. */
export function planText(
  set: string,
  plan: PolicySetPlan,
  documents: readonly PolicyDocument[],
): string {
  const { changes, unchanged, drift, tests, replay, warnings } = plan
  const lines = [
    `Policy set ${set}: ${countsText(changes)}, ${unchanged} unchanged`,
    ...(drift.length > 0
      ? ['Changed outside of the set:', ...drift.map((one) => `  ! ${driftText(one)}`)]
      : []),
    ...changes.flatMap((one) => [
      `  ${SIGNS[one.change]} ${one.change} ${one.kind} ${one.name}${one.weakens ? ' (weakens)' : ''}`,
      ...differences(one, documents).map(
        ({ name, before, after }) =>
          `      ${name}: ${before === null ? '' : `${before} -> `}${after}`,
      ),
      ...one.warnings.map((warning) => `      warning: ${warning}`),
    ]),
    ...warnings.map((warning) => `warning: ${warning}`),
    ...(plan.approval.why === null ? [] : [`Applying it needs an approval: ${plan.approval.why}`]),
    ...(replay ? [replayText(replay)] : []),
  ]
  const shown = lines.map((line) => `${printableLine(line)}\n`).join('')
  return `${shown}${testsText(tests, documents)}${propertiesText(plan.properties)}`
}

function countsText(changes: readonly ObjectChange[]): string {
  if (changes.length === 0) return 'no changes'
  return [...Map.groupBy(changes, ({ change }) => change)]
    .map(([change, some]) => `${some.length} to ${change}`)
    .join(', ')
}

const driftText = ({ kind, name, change, by, seq, at }: Drift): string =>
  [
    `${kind} ${name} was ${change}`,
    by !== null && `by ${by}`,
    at !== null && `at ${at}`,
    seq !== null && `(entry ${seq})`,
  ]
    .filter((part) => part !== false)
    .join(' ')

interface Difference {
  readonly name: string
  /** Null for a new object. */
  readonly before: string | null
  readonly after: string
}

/** The members that a replacement changes, or that a new object is given. */
function differences(
  { kind, name: of, change, before, after }: ObjectChange,
  documents: readonly PolicyDocument[],
): Difference[] {
  if (change === 'create') {
    const document = documents.find((one) => one.kind === kind && one.name === of)
    return Object.entries(document?.spec ?? {}).map(([name, value]) => ({
      name,
      before: null,
      after: JSON.stringify(value),
    }))
  }
  if (before === null || after === null) return []
  return Object.entries(after).flatMap(([name, value]) => {
    const [old, next] = [JSON.stringify(before[name] ?? null), JSON.stringify(value ?? null)]
    return old === next ? [] : [{ name, before: old, after: next }]
  })
}

function replayText({
  from,
  to,
  decisions,
  flipped,
  not_replayable,
  complete,
}: PlanReplay): string {
  const differ = Object.values(flipped).reduce((sum, count) => sum + count, 0)
  const kinds = Object.entries(flipped)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`)
  return [
    `Replay: ${differ} of ${decisions} recorded decisions would differ`,
    kinds.length > 0 ? ` (${kinds.join(', ')})` : '',
    not_replayable > 0 ? `, ${not_replayable} are unknown` : '',
    `; ${from.slice(0, 10)} to ${to.slice(0, 10)}`,
    complete ? '' : ', not the whole period',
  ].join('')
}

/** The results of tests for the terminal. */
export function testsText(tests: TestSummary, documents: readonly PolicyDocument[]): string {
  const { passed, failed, cases, unmatched } = tests
  if (passed + failed === 0) return 'No tests.\n'
  const lines = [
    `Tests: ${passed} passed, ${failed} failed`,
    ...cases
      .filter((one) => !one.passed)
      .map((one) => `  x ${one.document} / ${one.name}: ${gotText(one, caseOf(documents, one))}`),
    ...unmatched.map(({ kind, name }) => `  no test matches ${kind} ${name}`),
  ]
  return lines.map((line) => `${printableLine(line)}\n`).join('')
}

function caseOf(documents: readonly PolicyDocument[], result: TestResult): TestCase | undefined {
  const tests = documents.find((one) => one.kind === 'Tests' && one.name === result.document)
  return tests?.kind === 'Tests'
    ? tests.spec.cases.find(({ name }) => name === result.name)
    : undefined
}

function gotText({ got }: TestResult, test: TestCase | undefined): string {
  const { decision, reason, matched } = test?.expect ?? {}
  const wanted = [decision, reason, matched && `matched ${list(matched)}`].filter(Boolean)
  return `expected ${wanted.join(', ')}; got ${got.decision}, ${got.reason}, matched ${list(got.matched)}`
}

const list = (names: readonly string[]): string =>
  names.length === 0 ? 'nothing' : names.join(' ')

/** The results of properties for the terminal. */
export const propertiesText = (properties: readonly PropertyResult[]): string =>
  properties.map((one) => `${printableLine(propertyText(one))}\n`).join('')

function propertyText({ name, result, cases, because, counterexample }: PropertyResult): string {
  const found = counterexample === null ? `${cases} cases` : JSON.stringify(counterexample)
  return `Property ${name}: ${[`${result}, ${found}`, ...because].join('; ')}`
}

/** A plan in Markdown, for the comment of a pull request. */
export function markdown(
  set: string,
  plan: PolicySetPlan,
  documents: readonly PolicyDocument[],
): string {
  const { changes, unchanged, drift, tests, replay, warnings } = plan
  const failed = tests.cases.filter((one) => !one.passed)
  const sections = [
    `## Policy set \`${set}\``,
    `${countsText(changes)}, ${unchanged} unchanged. Tests: ${tests.passed} passed, ${tests.failed} failed.`,
    drift.length > 0 &&
      `**Changed outside of the set:**\n\n${drift.map((one) => `- ${cell(driftText(one))}`).join('\n')}`,
    changes.length > 0 &&
      `| change | kind | name | difference |\n| --- | --- | --- | --- |\n${changes.map((one) => changeRow(one, documents)).join('\n')}`,
    failed.length > 0 &&
      `**Failed tests:**\n\n${failed
        .map(
          (one) =>
            `- ${cell(`${one.document} / ${one.name}: ${gotText(one, caseOf(documents, one))}`)}`,
        )
        .join('\n')}`,
    tests.unmatched.length > 0 &&
      `**No test matches:** ${tests.unmatched.map(({ kind, name }) => cell(`${kind} ${name}`)).join(', ')}`,
    warnings.length > 0 && warnings.map((one) => `- ${cell(one)}`).join('\n'),
    plan.properties.length > 0 &&
      plan.properties.map((one) => `- ${cell(propertyText(one))}`).join('\n'),
    plan.approval.why !== null && `Applying it needs an approval: ${cell(plan.approval.why)}.`,
    replay !== null && `${replayText(replay)}.`,
    `Plan \`${plan.plan_digest}\``,
  ]
  return `${sections.filter((part) => part !== false).join('\n\n')}\n`
}

function changeRow(one: ObjectChange, documents: readonly PolicyDocument[]): string {
  const changed = differences(one, documents).map(
    ({ name, before, after }) =>
      `${code(name)}: ${before === null ? '' : `${code(before)} → `}${code(after)}`,
  )
  const notes = one.warnings.map((warning) => `⚠ ${cell(warning)}`)
  const change = one.weakens ? `${one.change}, **weakens**` : one.change
  return `| ${change} | ${one.kind} | ${cell(one.name)} | ${[...changed, ...notes].join('<br>')} |`
}

/** A text in a line or a cell, in which nothing is markup. */
const cell = (text: string): string =>
  printableLine(text).replaceAll(/[\\`*_{}[\]<>|~]/g, (sign) => `\\${sign}`)

const code = (text: string): string => {
  const shown = printableLine(text).replaceAll('|', '\\|')
  const ticks = '`'.repeat(
    1 + Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length)),
  )
  return ticks.length === 1 ? `${ticks}${shown}${ticks}` : `${ticks} ${shown} ${ticks}`
}

/** True if a property does not hold as it must. */
export const isUnmet = ({ result, require }: PropertyResult): boolean =>
  result === 'violated' || (result === 'searched' && require === 'proved')

/** The results of tests and properties as JUnit XML: a suite for each document of tests, and one of properties. */
export function junit(
  { tests, properties }: Pick<PolicySetPlan, 'tests' | 'properties'>,
  documents: readonly PolicyDocument[],
): string {
  const groups = [...Map.groupBy(tests.cases, ({ document }) => document)]
  const suites = groups.map(([name, cases]) =>
    cases.map((one) => ({
      suite: name,
      name: one.name,
      failure: one.passed ? null : gotText(one, caseOf(documents, one)),
    })),
  )
  suites.push(
    properties.map((one) => ({
      suite: 'properties',
      name: one.name,
      failure: isUnmet(one) ? propertyText(one) : null,
    })),
  )
  const counts = (rows: (typeof suites)[number]) =>
    `tests="${rows.length}" failures="${rows.filter(({ failure }) => failure !== null).length}"`
  const texts = suites.flatMap((rows) => {
    const [first] = rows
    if (!first) return []
    const cases = rows.map(({ suite, name, failure }) => {
      const head = `    <testcase classname="${xml(suite)}" name="${xml(name)}"`
      if (failure === null) return `${head}/>`
      return `${head}>\n      <failure message="${xml(failure)}"/>\n    </testcase>`
    })
    return `  <testsuite name="${xml(first.suite)}" ${counts(rows)}>\n${cases.join('\n')}\n  </testsuite>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts(suites.flat())}>\n${texts.join('')}</testsuites>\n`
}

const XML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
const xml = (text: string): string =>
  printableLine(text).replaceAll(/[&<>"]/g, (sign) => XML[sign] ?? sign)

/** The result of an import, rule by rule. */
export const importText = (report: readonly Imported[]): string =>
  report
    .map(({ rule, outcome, why }) => [`${outcome}: ${rule}`, ...why].join('; '))
    .map((line) => `${printableLine(line)}\n`)
    .join('')
