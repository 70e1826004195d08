/** The version of these numbers and of their application, which a report states. */
export const RULES_VERSION = '4'

/** The thresholds of checks, as integers. `max`: a higher value is looser; `min`: a lower one is. */
export const THRESHOLDS = {
  silence_hours: { value: 24, is: 'max' },
  retention_days: { value: 183, is: 'min' },
  verification_interval_days: { value: 31, is: 'max' },
  ungoverned_percent: { value: 10, is: 'max' },
  approval_p95_hours: { value: 24, is: 'max' },
  approval_pending_hours: { value: 72, is: 'max' },
  rapid_seconds: { value: 5, is: 'min' },
  rapid_percent: { value: 20, is: 'max' },
  unrefused_decisions: { value: 50, is: 'max' },
  unrefused_median_seconds: { value: 10, is: 'min' },
  approver_decisions_per_hour: { value: 60, is: 'max' },
  min_approvals: { value: 20, is: 'max' },
  credential_max_age_days: { value: 90, is: 'max' },
  revocation_delay_hours: { value: 24, is: 'max' },
  dormant_days: { value: 90, is: 'max' },
  unused_grants_percent: { value: 20, is: 'max' },
  unused_grant_days: { value: 90, is: 'max' },
  unpreviewed_percent: { value: 20, is: 'max' },
  preview_hours: { value: 24, is: 'max' },
  author_hours: { value: 24, is: 'min' },
  guarded_percent: { value: 50, is: 'min' },
  scorer_interval_days: { value: 31, is: 'max' },
  scorer_fail_percent: { value: 10, is: 'max' },
} as const satisfies Record<string, { readonly value: number; readonly is: 'min' | 'max' }>

export type ThresholdName = keyof typeof THRESHOLDS
export type CheckThresholds = Readonly<Record<ThresholdName, number>>

const NAMES = Object.keys(THRESHOLDS) as ThresholdName[]

/** The thresholds of this version with overrides. */
export const thresholdsOf = (over: Partial<CheckThresholds> = {}): CheckThresholds =>
  Object.fromEntries(NAMES.map((name) => [name, over[name] ?? THRESHOLDS[name].value])) as Record<
    ThresholdName,
    number
  >

/** Returns whether a threshold is looser than that of this version. */
export const isRelaxed = (
  thresholds: CheckThresholds,
  ...names: readonly ThresholdName[]
): boolean =>
  names.some((name) => {
    const { value, is } = THRESHOLDS[name]
    return is === 'max' ? thresholds[name] > value : thresholds[name] < value
  })
