/** Work that a thread can be given by name: plain data in, plain data out, part by part. */
export interface Job<Input, Part> {
  readonly name: string
  /** Throws `Refusal` for input that it cannot work with; whatever else it throws is a defect. */
  run(input: Input, tell: (part: Part) => void): void
}

/** A refusal of a job's own; `reason` is plain data, for who asked. */
export class Refusal extends Error {
  readonly reason: unknown

  constructor(reason: unknown) {
    super('the job refuses its input')
    this.name = 'Refusal'
    this.reason = reason
  }
}

/** What became of a job. */
export interface JobAnswer<Part> {
  /** As the job told them; not all when it was ended. */
  readonly parts: readonly Part[]
  /** `time`: it took longer than it was given. `memory`: it needed more than a worker has. */
  readonly ended: 'done' | 'time' | 'memory'
  readonly spentMs: number
}

/** What a thread is sent. */
export interface Task {
  readonly job: string
  readonly input: unknown
}

/** What a thread says: that it has loaded; parts as they come, the last ones with `done`; or why there are none. */
export type Report =
  | { readonly ready: true }
  | { readonly parts: readonly unknown[]; readonly done: boolean }
  | { readonly refused: unknown }
  | { readonly defect: string }
