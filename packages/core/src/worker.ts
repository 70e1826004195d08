/** Runs jobs in a worker thread, which can be terminated at any time. */
import { checkJob } from './guard/check-job.ts'
import { bodyJob } from './http/body.ts'
import { documentJob } from './http/document-job.ts'
import { scoreJob } from './scorers/score-job.ts'
import { serveJobs } from './threads/serve-jobs.ts'

serveJobs([bodyJob, documentJob, scoreJob, checkJob])
