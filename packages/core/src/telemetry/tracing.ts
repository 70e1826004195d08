/** The trace and the span of a caller, from its `traceparent`. Nothing may depend on it. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

export type Attributes = Readonly<Record<string, string | number | readonly string[]>>

export interface Span {
  /** Starts an operation that is part of this one. */
  child(name: string): Span
  /** Relates this operation to another one that is not its parent. */
  linkTo(other: Span): void
  set(attributes: Attributes): void
  /** Ends it; `error` marks it as failed. */
  end(error?: boolean): void
}

/** Records operations, where tracing is configured. */
export interface Tracer {
  /** Starts the operation of a request; null if this one is not sampled. */
  start(name: string, parent: TraceParent | null, attributes: Attributes): Span | null
  /** Sends what is recorded. */
  close(): Promise<void>
}

/** Version, trace id, parent id and flags; later versions may add parts. */
const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/** Reads a `traceparent` header (https://www.w3.org/TR/trace-context); null if it is not valid. */
export function parseTraceparent(text: string): TraceParent | null {
  const match = TRACEPARENT.exec(text)
  if (!match) return null
  const [, traceId = '', spanId = '', flags = ''] = match
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
