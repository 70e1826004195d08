import { serveJobs } from '../../src/threads/serve-jobs.ts'
import { waitingJob } from './waiting-job.ts'

serveJobs([waitingJob])
