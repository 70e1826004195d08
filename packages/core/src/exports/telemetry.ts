export { cached } from '../telemetry/cached.ts'
export type { MetricFamily, Metrics } from '../telemetry/metrics.ts'
export type { Attributes, Span, Tracer } from '../telemetry/tracing.ts'
