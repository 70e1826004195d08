import type { ScoreOutcome, Unscorable } from '@remit/core'
import type { CallOutcome } from './assess.ts'
import { PROMPT_VERSION } from './prompt.ts'
import type { JudgeTask } from './task.ts'
import { UsageMeter } from './usage.ts'

/** The summary of a batch, including failed calls. It contains no judged text. */
export class Summary {
  readonly #task: JudgeTask
  readonly #meter = new UsageMeter()
  #cachedCalls = 0
  #suspected = 0
  #compared = 0
  #inconsistent = 0

  constructor(task: JudgeTask) {
    this.#task = task
  }

  add(
    { metadata = {} }: ScoreOutcome | Unscorable,
    samples: readonly (readonly CallOutcome[])[],
    meter: UsageMeter,
  ): void {
    this.#meter.join(meter)
    this.#cachedCalls += samples.flat().filter((call) => 'verdict' in call && call.isCached).length
    if (metadata['injection_suspected'] === true) this.#suspected++
    if (typeof metadata['position_consistent'] !== 'boolean') return
    this.#compared++
    if (!metadata['position_consistent']) this.#inconsistent++
  }

  report(): Record<string, unknown> {
    const { judge, mode, positionSwap } = this.#task
    return {
      judge: judge.alias,
      model: judge.model,
      mode,
      prompt_version: PROMPT_VERSION,
      ...this.#meter.report(judge.prices),
      cached_calls: this.#cachedCalls,
      injection_suspected: this.#suspected,
      ...(positionSwap && {
        position_inconsistency_rate:
          this.#compared === 0 ? null : this.#inconsistent / this.#compared,
      }),
    }
  }
}
