/** Work that a thread runs by name: plain data in, plain data out, part by part. */
export interface Job<Input, Part> {
  readonly name: string
  /** Throws `Refusal` for invalid input; any other exception is a defect. */
  run(input: Input, tell: (part: Part) => void): void
}

/** A refusal by a job; `reason` is plain data for the requester. */
export class Refusal extends Error {
  readonly reason: unknown

  constructor(reason: unknown) {
    super('the job rejected its input')
    this.name = 'Refusal'
    this.reason = reason
  }
}

export interface JobAnswer<Part> {
  /** The parts of the result; incomplete if the job was terminated. */
  readonly parts: readonly Part[]
  /** `time`: it exceeded its time limit. `memory`: it exceeded the memory of a worker. */
  readonly ended: 'done' | 'time' | 'memory'
  /** CPU time of the thread; if it has exited, the time that passed. */
  readonly spentMs: number
}

export interface JobRequest {
  readonly job: string
  readonly input: unknown
}

/** The content of a message: loaded, some parts, the last parts (`done`), or an error. */
export type Report =
  | { readonly ready: true }
  | { readonly parts: readonly unknown[]; readonly done: boolean }
  | { readonly refused: unknown }
  | { readonly defect: string }

/** A message from a thread, with the CPU time of the thread so far. */
export type ThreadMessage = Report & { readonly computedMs: number }
