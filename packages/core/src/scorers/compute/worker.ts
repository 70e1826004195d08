/* Scores parts of batches in a thread of its own, which can be ended whatever it is doing. */
import { parentPort } from 'node:worker_threads'
import type { ResultToScore } from '@remit/contract'
import { builtInScorers } from '../built-in/index.ts'
import { prepare, scoreOne } from '../score-one.ts'
import { UnusableParam } from '../scorer.ts'
import { toSend } from './messages.ts'
import type { Report, SentOutcome, Task } from './messages.ts'

// What is not told is lost when the worker is ended.
const TELL_AFTER_MS = 10

const byName = new Map(builtInScorers.map((scorer) => [scorer.name, scorer]))
const tell = (report: Report) => parentPort?.postMessage(report)

function work({ scorer: name, params, results }: Task): void {
  const scorer = byName.get(name)
  if (!scorer) throw new Error(`no worker knows the scorer ${name}`)
  const prepared = prepare(scorer, JSON.parse(params))
  let outcomes: SentOutcome[] = []
  let told = performance.now()
  for (const result of results) {
    outcomes.push(toSend(scoreOne(scorer, JSON.parse(result) as ResultToScore, prepared)))
    if (performance.now() - told < TELL_AFTER_MS) continue
    tell({ outcomes, done: false })
    outcomes = []
    told = performance.now()
  }
  tell({ outcomes, done: true })
}

parentPort?.on('message', (task: Task) => {
  try {
    work(task)
  } catch (error) {
    if (error instanceof UnusableParam)
      tell({ unusable: { param: error.param, message: error.message } })
    else tell({ defect: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})

tell({ ready: true })
