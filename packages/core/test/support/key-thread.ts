import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { loadLedgerKey } from '../../src/ledger/format/note.ts'

export interface KeyThreadData {
  readonly folder: string
  readonly rounds: number
  readonly threads: number
  /** Number of threads that reached each round, one 32-bit integer per round. */
  readonly arrived: SharedArrayBuffer
}

const { folder, rounds, threads, arrived } = workerData as KeyThreadData
const counts = new Int32Array(arrived)

// In each round all threads open the same missing key; the answer is what each of them got.
const keys = Array.from({ length: rounds }, (_, round) => {
  if (Atomics.add(counts, round, 1) === threads - 1) Atomics.notify(counts, round)
  for (let seen = 0; (seen = Atomics.load(counts, round)) < threads;)
    Atomics.wait(counts, round, seen)
  try {
    const key = loadLedgerKey(join(folder, String(round), 'ledger-key.pem'), true)
    return key.export({ type: 'pkcs8', format: 'pem' }).toString()
  } catch (error) {
    return String(error)
  }
})
parentPort?.postMessage(keys)
