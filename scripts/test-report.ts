/**
 * `node scripts/test-report.ts <vitest's JSON report> <vitest's exit code>` prints one plain line,
 * `N passed, N failed, N skipped`, and exits with 1 unless everything passed.
 */
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

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/**
 * Counts a report. A file that failed without a failed test (it did not load, or a hook failed) is
 * one failure; so is a run that failed although all its tests passed.
 */
function countTests(report: Report | undefined, exitCode: number): Counts {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 }
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  )
  const failed = report.numFailedTests + broken.length
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    // The run ended before it could write a report.
    return undefined
  }
}

const [path = '', exitCode = '0'] = process.argv.slice(2)
const { passed, failed, skipped } = countTests(readReport(path), Number(exitCode))
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 ? 0 : 1
