import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'
import type { Span as OtelSpan, Tracer as OtelTracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  BatchSpanProcessor,
  TracerProvider,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { Attributes, Span, Tracer } from '@remit/core/telemetry'
import type { TelemetrySettings } from '../settings/telemetry.ts'
import { VERSION } from '../settings/version.ts'
import { resourceOf } from './otlp-resource.ts'

/** Sends sampled operations over OTLP. Imported only where tracing is configured. */
export function openTelemetry({ share, serviceName }: TelemetrySettings): Tracer {
  const provider = new TracerProvider({
    resource: resourceOf(serviceName),
    // By the id of the trace and not by the caller's flag, which could have everything recorded.
    sampler: new TraceIdRatioBasedSampler(share),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer('remit', VERSION)
  return {
    start(name, parent, attributes) {
      const context = parent
        ? trace.setSpanContext(ROOT_CONTEXT, {
            traceId: parent.traceId,
            spanId: parent.spanId,
            traceFlags: parent.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
            isRemote: true,
          })
        : ROOT_CONTEXT
      const span = tracer.startSpan(
        name,
        { kind: SpanKind.SERVER, attributes: valuesOf(attributes) },
        context,
      )
      return span.isRecording() ? new RecordedSpan(tracer, span) : null
    },
    close: () => provider.shutdown(),
  }
}

/** The library's type does not take read-only lists. */
const valuesOf = (attributes: Attributes) =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === 'object' ? [...value] : value,
    ]),
  )

class RecordedSpan implements Span {
  readonly #tracer: OtelTracer
  readonly #span: OtelSpan

  constructor(tracer: OtelTracer, span: OtelSpan) {
    this.#tracer = tracer
    this.#span = span
  }

  child(name: string): Span {
    const context = trace.setSpan(ROOT_CONTEXT, this.#span)
    return new RecordedSpan(this.#tracer, this.#tracer.startSpan(name, {}, context))
  }

  linkTo(other: Span): void {
    if (other instanceof RecordedSpan) this.#span.addLink({ context: other.#span.spanContext() })
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(valuesOf(attributes))
  }

  end(error = false): void {
    if (error) this.#span.setStatus({ code: SpanStatusCode.ERROR })
    this.#span.end()
  }
}
