import { ConfigError } from './config.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Metrics over OTLP, from the variables of OpenTelemetry. */
export interface MetricsSettings {
  readonly everyMs: number
  readonly serviceName: string
}

/** Tracing, from the variables of OpenTelemetry. */
export interface TelemetrySettings {
  /** Share of the traces that are recorded, 0 to 1. */
  readonly share: number
  readonly serviceName: string
}

const SAMPLER_ARG = 'OTEL_TRACES_SAMPLER_ARG'
const INTERVAL = 'OTEL_METRIC_EXPORT_INTERVAL'
const EVERY_MS = '60000'

/**
 * Returns the settings of tracing; null unless `OTEL_EXPORTER_OTLP_ENDPOINT` or that of traces is
 * set. The exporter reads the other variables itself. Throws `ConfigError`.
 */
export function telemetrySettings(env: Env): TelemetrySettings | null {
  if (!hasEndpoint(env, 'TRACES')) return null
  const text = env[SAMPLER_ARG] || '1'
  const share = Number(text)
  if (!(share >= 0 && share <= 1))
    throw new ConfigError(
      `${SAMPLER_ARG} must be a number from 0 to 1; given: ${JSON.stringify(text)}`,
    )
  return { share, serviceName: serviceNameOf(env) }
}

/**
 * Returns the settings of metrics over OTLP; null unless `OTEL_EXPORTER_OTLP_ENDPOINT` or that of
 * metrics is set. Throws `ConfigError`.
 */
export function metricsSettings(env: Env): MetricsSettings | null {
  if (env['OTEL_METRICS_EXPORTER'] === 'none' || !hasEndpoint(env, 'METRICS')) return null
  const text = env[INTERVAL] || EVERY_MS
  if (!/^[1-9]\d{2,7}$/.test(text))
    throw new ConfigError(
      `${INTERVAL} must be a number of milliseconds from 100 to 99999999; given: ${JSON.stringify(text)}`,
    )
  return { everyMs: Number(text), serviceName: serviceNameOf(env) }
}

const serviceNameOf = (env: Env): string => env['OTEL_SERVICE_NAME'] || 'remit'

function hasEndpoint(env: Env, signal: 'TRACES' | 'METRICS'): boolean {
  const endpoint =
    env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || env['OTEL_EXPORTER_OTLP_ENDPOINT'] || undefined
  if (endpoint === undefined || env['OTEL_SDK_DISABLED'] === 'true') return false
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint))
    throw new ConfigError(
      `OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL; given: ${JSON.stringify(endpoint)}`,
    )
  return true
}
