import { ConfigError } from './environment.ts'

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
 * set, and for the exporter `none`. The exporter reads the other variables itself. Throws `ConfigError`.
 */
export function telemetrySettings(env: Env): TelemetrySettings | null {
  if (!isSent(env, 'TRACES')) return null
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
 * metrics is set, and for the exporter `none`. Throws `ConfigError`.
 */
export function metricsSettings(env: Env): MetricsSettings | null {
  if (!isSent(env, 'METRICS')) return null
  const text = env[INTERVAL] || EVERY_MS
  if (!/^[1-9]\d{2,7}$/.test(text))
    throw new ConfigError(
      `${INTERVAL} must be a number of milliseconds from 100 to 99999999; given: ${JSON.stringify(text)}`,
    )
  return { everyMs: Number(text), serviceName: serviceNameOf(env) }
}

const serviceNameOf = (env: Env): string => env['OTEL_SERVICE_NAME'] || 'remit'

/** The accepted exporters and protocols, and the default of each. */
const EXPORTERS = ['otlp', 'none']
const PROTOCOLS = ['http/json']

/** Returns whether a signal is sent. What we do not speak would never arrive, and nobody would know. */
function isSent(env: Env, signal: 'TRACES' | 'METRICS'): boolean {
  const endpoint =
    env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || env['OTEL_EXPORTER_OTLP_ENDPOINT'] || undefined
  if (endpoint === undefined || env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false
  if (oneOf(env, [`OTEL_${signal}_EXPORTER`], EXPORTERS) === 'none') return false
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint))
    throw new ConfigError(
      `OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL; given: ${JSON.stringify(endpoint)}`,
    )
  oneOf(env, [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL'], PROTOCOLS)
  return true
}

/** The value of the first variable that is set, without regard to case; the first accepted one by default. */
function oneOf(
  env: Env,
  names: readonly string[],
  [preset, ...others]: readonly string[],
): string | undefined {
  const name = names.find((candidate) => env[candidate])
  const given = name && env[name]?.trim().toLowerCase()
  if (name === undefined || given === preset || others.includes(given ?? '')) return given ?? preset
  throw new ConfigError(
    `${name} must be ${[preset, ...others].join(' or ')}; given: ${JSON.stringify(env[name])}`,
  )
}
