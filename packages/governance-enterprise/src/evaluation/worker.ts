/** Evaluates conditions in a worker thread. */
import { serveJobs } from '@remit/core'
import { evaluateJob } from './evaluate-job.ts'

serveJobs([evaluateJob])
