import { readFileSync } from 'node:fs'

/** The used part of vitest's JSON report. */
interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

/**
 * Returns one plain line from vitest's JSON report: `N passed, N failed, N skipped`. A file that failed
 * without a failed test (it did not load, or a hook failed) is one failure; so is a run that failed
 * although all its tests passed, or before it could write a report.
 */
export function countTests(path: string, hasPassed: boolean): string {
  const report = readReport(path)
  if (report === undefined) return '0 passed, 1 failed'
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  )
  const failed = report.numFailedTests + broken.length
  const skipped = report.numPendingTests + report.numTodoTests
  return [
    `${report.numPassedTests} passed`,
    `${failed === 0 && !hasPassed ? 1 : failed} failed`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(', ')
}

function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return undefined
  }
}
