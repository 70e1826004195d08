/** The version of these numbers and of their application, which a report states. */
export const RULES_VERSION = '4'

/** The thresholds of checks, as integers. `max`: a higher value is looser; `min`: a lower one is. */
export const THRESHOLDS = {
  silence_hours: { value: 24, is: 'max', of: ['LED-3'] },
  retention_days: { value: 183, is: 'min', of: ['LED-4'] },
  verification_interval_days: { value: 31, is: 'max', of: ['LED-6'] },
  ungoverned_percent: { value: 10, is: 'max', of: ['DEC-4'] },
  approval_p95_hours: { value: 24, is: 'max', of: ['APR-4'] },
  approval_pending_hours: { value: 72, is: 'max', of: ['APR-4'] },
  rapid_seconds: { value: 5, is: 'min', of: ['APR-5'] },
  rapid_percent: { value: 20, is: 'max', of: ['APR-5'] },
  unrefused_decisions: { value: 50, is: 'max', of: ['APR-5'] },
  unrefused_median_seconds: { value: 10, is: 'min', of: ['APR-5'] },
  approver_decisions_per_hour: { value: 60, is: 'max', of: ['APR-7'] },
  min_approvals: { value: 20, is: 'max', of: ['APR-5', 'APR-7'] },
  credential_max_age_days: { value: 90, is: 'max', of: ['ACC-2'] },
  revocation_delay_hours: { value: 24, is: 'max', of: ['ACC-4'] },
  dormant_days: { value: 90, is: 'max', of: ['ACC-7'] },
  unused_grants_percent: { value: 20, is: 'max', of: ['ACC-6'] },
  unused_grant_days: { value: 90, is: 'max', of: ['ACC-6'] },
  unpreviewed_percent: { value: 20, is: 'max', of: ['CHG-2'] },
  preview_hours: { value: 24, is: 'max', of: ['CHG-2'] },
  author_hours: { value: 24, is: 'min', of: ['CHG-3'] },
  guarded_percent: { value: 50, is: 'min', of: ['GRD-1'] },
  scorer_interval_days: { value: 31, is: 'max', of: ['SCR-1'] },
  scorer_fail_percent: { value: 10, is: 'max', of: ['SCR-2'] },
} as const satisfies Record<string, Threshold>

interface Threshold {
  readonly value: number
  readonly is: 'min' | 'max'
  /** The checks that it is a threshold of. */
  readonly of: readonly string[]
}

export type ThresholdName = keyof typeof THRESHOLDS
export type CheckThresholds = Readonly<Record<ThresholdName, number>>

const ROWS = Object.entries(THRESHOLDS) as [ThresholdName, Threshold][]

/** The thresholds of this version with overrides. */
export const thresholdsOf = (over: Partial<CheckThresholds> = {}): CheckThresholds =>
  Object.fromEntries(ROWS.map(([name, { value }]) => [name, over[name] ?? value])) as Record<
    ThresholdName,
    number
  >

/** Returns whether a threshold of a check is looser than that of this version. */
export const isRelaxed = (thresholds: CheckThresholds, check: string): boolean =>
  ROWS.some(
    ([name, { value, is, of }]) =>
      of.includes(check) && (is === 'max' ? thresholds[name] > value : thresholds[name] < value),
  )
