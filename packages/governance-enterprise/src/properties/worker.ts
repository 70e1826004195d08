/* Searches for counterexamples of properties in a worker thread. */
import { serveJobs } from '@remit/core/threads'
import { searchJob } from './search-job.ts'

serveJobs([searchJob])
