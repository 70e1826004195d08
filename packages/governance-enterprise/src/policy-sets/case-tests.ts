import type { ObjectKind, Plan, PolicyDocument, TestCase, TestSummary } from '@remit/contract'
import { fail } from '@remit/core/base'
import type { Overlay, Preview } from '@remit/core/decision'
import type { Deps } from '@remit/core/module'
import type { ObjectDocument } from './compare.ts'

/** Most listed cases; all are counted. */
const MAX_LISTED = 200
const MAX_CASES = 10_000
/** Kinds of rules that a test can match. */
const RULES: ReadonlySet<ObjectKind> = new Set(['Policy', 'ApprovalRule', 'Permission'])

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
 * decision with the expected one. `added` are the names of the policies of the overlay, in order.
 */
export async function runTests(
  { decider }: Pick<Deps, 'decider'>,
  { orgId, plan }: { readonly orgId: string; readonly plan: Plan },
  documents: readonly PolicyDocument[],
  objects: readonly ObjectDocument[],
  { overlay, added }: { readonly overlay: Overlay; readonly added: readonly string[] },
): Promise<TestSummary> {
  const cases = casesOf(documents)
  const seen = new Set<string>()
  const results: TestSummary['cases'] = []
  for (const [at, some] of Map.groupBy(cases, (one) => one.case.at ?? null)) {
    const requests = some.map((one) => one.case.request)
    const options = { overlay, ...(at !== null && { at: Date.parse(at) }) }
    const previews = await decider.preview(orgId, plan, requests, options)
    for (const [i, preview] of previews.entries()) {
      const one = some[i]
      if (!one) continue
      const matched = matchedIn(preview, added)
      for (const id of matched) seen.add(id)
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
      .filter(({ kind, id }) => cases.length > 0 && RULES.has(kind) && !seen.has(id))
      .map(({ kind, name }) => ({ kind, name })),
  }
}

/** The ids of the rules that match; policies of the overlay by their name. The limit of an agent is no rule. */
function matchedIn({ matched }: Preview, added: readonly string[]): string[] {
  return matched.flatMap(({ kind, id }) => {
    if (kind === 'spend_limit') return []
    const place = /^overlay\.(\d+)$/.exec(id)?.[1]
    return place === undefined ? id : (added[Number(place)] ?? id)
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
