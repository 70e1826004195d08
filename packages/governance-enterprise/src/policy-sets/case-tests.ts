import type { ObjectKind, Plan, PolicyDocument, TestCase, TestSummary } from '@remit/contract'
import { fail } from '@remit/core/base'
import type { Overlay, Preview } from '@remit/core/decision'
import type { Deps } from '@remit/core/module'
import { nameIn } from '../policies/overlay.ts'
import type { PlannedRules } from '../policies/overlay.ts'
import { keyOf } from './compare.ts'
import type { ObjectDocument } from './compare.ts'

/** Most listed cases; all are counted. */
const MAX_LISTED = 200
const MAX_CASES = 10_000
/** The kinds of rules that a decision names. The limit of an agent is no rule. */
const RULES: Readonly<Record<string, ObjectKind>> = {
  policy: 'Policy',
  approval_rule: 'ApprovalRule',
  permission: 'Permission',
}
const RULE_KINDS: ReadonlySet<ObjectKind> = new Set(Object.values(RULES))

interface TestedSet {
  readonly documents: readonly PolicyDocument[]
  readonly objects: readonly ObjectDocument[]
}

interface NamedCase {
  readonly document: string
  readonly case: TestCase
}

/** The cases of all documents with tests. */
function casesOf(documents: readonly PolicyDocument[]): NamedCase[] {
  const cases = documents.flatMap((one) =>
    one.kind === 'Tests' ? one.spec.cases.map((test) => ({ document: one.name, case: test })) : [],
  )
  if (cases.length > MAX_CASES)
    throw fail('invalid_request', `documents: must have at most ${MAX_CASES} test cases together`)
  return cases
}

/**
 * Decides every case as the organization would after the change of the overlay, and compares the
 * decision with the expected one. Each case begins with nothing spent or held. `added` are the names of the policies of the overlay, in order.
 */
export async function runTests(
  { decider }: Pick<Deps, 'decider'>,
  { orgId, plan }: { readonly orgId: string; readonly plan: Plan },
  { documents, objects }: TestedSet,
  { overlay, added }: PlannedRules,
  signal: AbortSignal,
): Promise<TestSummary> {
  const cases = casesOf(documents)
  // One object: a compiled overlay is kept with it.
  const begun: Overlay = { ...overlay, nothing_spent: true }
  const seen = new Set<string>()
  const results: TestSummary['cases'] = []
  for (const [at, some] of Map.groupBy(cases, (one) => one.case.at ?? null)) {
    signal.throwIfAborted()
    const requests = some.map((one) => one.case.request)
    const options = { overlay: begun, ...(at !== null && { at: Date.parse(at) }) }
    const previews = await decider.preview(orgId, plan, requests, options)
    for (const [i, preview] of previews.entries()) {
      const one = some[i]
      if (!one) continue
      const rules = rulesIn(preview, added)
      for (const { kind, id } of rules) seen.add(keyOf(kind, id))
      const matched = rules.map(({ id }) => id)
      const { decision, reason } = preview
      const got = { decision, reason, matched }
      const { document, case: test } = one
      results.push({ document, name: test.name, passed: isAsExpected(test.expect, got), got })
    }
  }
  const failed = results.filter((one) => !one.passed)
  const passed = results.filter((one) => one.passed)
  return {
    passed: passed.length,
    failed: failed.length,
    cases: [...failed, ...passed].slice(0, MAX_LISTED),
    unmatched: objects
      .filter((one) => cases.length > 0 && mayMatch(one) && !seen.has(keyOf(one.kind, one.id)))
      .map(({ kind, name }) => ({ kind, name })),
  }
}

/** Rules that are disabled or observed decide nothing. */
const mayMatch = ({ kind, spec }: ObjectDocument): boolean =>
  RULE_KINDS.has(kind) && spec['enabled'] !== false && spec['mode'] !== 'observe'

/** The rules that match; policies of the overlay by their name. */
function rulesIn({ matched }: Preview, added: readonly string[]) {
  return matched.flatMap((one) => {
    const kind = RULES[one.kind]
    return kind ? [{ kind, id: kind === 'Policy' ? nameIn(added, one) : one.id }] : []
  })
}

const isAsExpected = (
  expected: TestCase['expect'],
  got: TestSummary['cases'][number]['got'],
): boolean =>
  expected.decision === got.decision &&
  (expected.reason === undefined || expected.reason === got.reason) &&
  (expected.matched === undefined || isSame(new Set(expected.matched), new Set(got.matched)))

const isSame = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((one) => b.has(one))
