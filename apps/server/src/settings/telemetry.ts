import { ConfigError } from './config.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Tracing, from the variables of OpenTelemetry. */
export interface TelemetrySettings {
  /** Share of the traces that are recorded, 0 to 1. */
  readonly share: number
  readonly serviceName: string
}

const SAMPLER_ARG = 'OTEL_TRACES_SAMPLER_ARG'

/**
 * Returns the settings of tracing; null unless `OTEL_EXPORTER_OTLP_ENDPOINT` or that of traces is
 * set. The exporter reads the other variables itself. Throws `ConfigError`.
 */
export function telemetrySettings(env: Env): TelemetrySettings | null {
  const endpoint =
    env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'] || undefined
  if (endpoint === undefined || env['OTEL_SDK_DISABLED'] === 'true') return null
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint))
    throw new ConfigError(
      `OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL; given: ${JSON.stringify(endpoint)}`,
    )
  const text = env[SAMPLER_ARG] || '1'
  const share = Number(text)
  if (!(share >= 0 && share <= 1))
    throw new ConfigError(
      `${SAMPLER_ARG} must be a number from 0 to 1; given: ${JSON.stringify(text)}`,
    )
  return { share, serviceName: env['OTEL_SERVICE_NAME'] || 'remit' }
}
