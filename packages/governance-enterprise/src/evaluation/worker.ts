/** Evaluates conditions in a worker thread. */
import { serveJobs } from '@remit/core/threads'
import { evaluateJob } from './evaluate-job.ts'

serveJobs([evaluateJob])
